(* The checker's bounds of a class at one x: top X >= P(f) - x Q(f) for every x that X encloses, every pair and every test. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Sampling Fixed Grid Above Noise.
Open Scope R_scope.

Section Tops.
Variable p : positive.

Definition top := ends -> option Z.

Definition bounds_tests (C : class) (x t : R) : Prop :=
  forall Y P Q, C Y P Q -> forall f, test P f -> test Q f -> mean P f - x * mean Q f <= t.

Definition tops (T : top) (C : class) : Prop :=
  forall X x t, holds p X x -> 0 < x -> T X = Some t -> bounds_tests C x (real_of p t).

(* The upper end of an enclosure. *)
Definition upper_end (u : ends) : option Z := match u with Some (_, b) => Some b | None => None end.

Lemma upper_end_ge u t x : holds p u x -> upper_end u = Some t -> x <= real_of p t.
Proof.
  destruct u as [[a b]|]; simpl; intros H E; inversion E; subst. unfold real_of. pose proof (one_posR p).
  apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
  replace (IZR t / IZR (one p) * IZR (one p)) with (IZR t) by (field; lra). lra.
Qed.

(* The other order. *)
Definition reversed (C : class) : class := fun Y P Q => C Y Q P.

Definition backward_top (T : top) : top := fun X =>
  match T (over p (whole p 1) X) with
  | Some t => upper_end (plus (minus (whole p 1) X) (times p X (exactly t)))
  | None => None
  end.

Lemma tops_backward T C : tops T C -> tops (backward_top T) (reversed C).
Proof.
  intros H X x t HX Hx. unfold backward_top. destruct (T _) as [s|] eqn:E; [|discriminate]. intros Ht Y P Q HC f Pf Qf.
  assert (0 < 1 / x) as Hi by (apply Rmult_lt_0_compat; [lra | now apply Rinv_0_lt_compat]).
  pose proof (H _ (1 / x) s (over_holds p _ _ _ _ (whole_holds p 1) HX) Hi E Y Q P HC _ (test_not Q f Qf) (test_not P f Pf)) as B.
  rewrite !mean_not in B by (apply Pf || apply Qf).
  eapply Rle_trans; [|eapply (upper_end_ge _ _ (1 - x + x * real_of p s)); [|exact Ht]].
  - apply (Rmult_le_compat_l x) in B; [|lra].
    replace (x * (1 - mean Q f - 1 / x * (1 - mean P f))) with (x * (1 - mean Q f) - (1 - mean P f)) in B by (field; lra). lra.
  - apply plus_holds; [apply minus_holds; [apply (whole_holds p 1) | exact HX]|]. apply times_holds; [exact HX | apply exactly_holds].
Qed.

(* Both orders: the larger curve. *)
Definition larger_top (T S : top) : top := fun X =>
  match T X, S X with Some t, Some s => Some (Z.max t s) | _, _ => None end.

Lemma real_of_le s t : (s <= t)%Z -> real_of p s <= real_of p t.
Proof.
  intro H. unfold real_of. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, one_posR | now apply IZR_le].
Qed.

Lemma tops_either T C : tops T C -> tops (larger_top T (backward_top T)) (either C).
Proof.
  intros H X x t HX Hx. unfold larger_top. destruct (T X) as [a|] eqn:Ea; [|discriminate].
  destruct (backward_top T X) as [b|] eqn:Eb; [|discriminate]. intro Et. inversion Et; subst. intros Y P Q [HC|HC] f Pf Qf.
  - eapply Rle_trans; [apply (H X x a HX Hx Ea Y P Q HC f Pf Qf) | apply real_of_le; lia].
  - eapply Rle_trans; [apply (tops_backward T C H X x b HX Hx Eb Y P Q HC f Pf Qf) | apply real_of_le; lia].
Qed.

(* Sampling at the rate n/d. *)
Definition sampled_top (n : Z) (d : positive) (T : top) : top := fun X =>
  let u := over p (minus X (ratio p (Zpos d - n) d)) (ratio p n d) in
  match X with
  | Some (x, _) =>
      match minus X (ratio p (Zpos d - n) d) with
      | Some (a, b) =>
          if (0 <? a)%Z then
            match T u with Some t => upper_end (times p (ratio p n d) (exactly t)) | None => None end
          else (* u <= 0, or it is not decided: then 1 - x and the width of what is not decided *)
            match over p (Some (0, Z.max 0 b))%Z (ratio p n d) with
            | Some (_, w) => Some (one p - x + w)%Z
            | None => None
            end
      | None => None
      end
  | None => None
  end.

Lemma tops_sampled T C (r : probability) n d : value r = IZR n / IZR (Zpos d) -> (0 < n)%Z ->
  tops T C -> tops (sampled_top n d T) (sampled r C).
Proof.
  intros Hr Hn H X x t HX Hx. unfold sampled_top.
  destruct X as [[x1 x2]|] eqn:EX; [|discriminate]. rewrite <- EX in *.
  assert (0 < IZR (Zpos d)) as Hd by now apply IZR_lt. assert (0 < IZR n) as Hn' by now apply IZR_lt.
  pose proof (ratio_holds p n d) as R1. pose proof (ratio_holds p (Zpos d - n) d) as R2.
  assert (IZR (Zpos d - n) / IZR (Zpos d) = 1 - r) as E by (rewrite Hr, minus_IZR; field; lra). rewrite E in R2. rewrite <- Hr in R1.
  assert (0 < r) as Hr0 by (rewrite Hr; apply Rmult_lt_0_compat; [assumption | now apply Rinv_0_lt_compat]).
  pose proof (minus_holds p _ _ _ _ HX R2) as M. replace (x - (1 - r)) with (x - (1 - r)) in M by ring.
  set (u := (x - (1 - r)) / r). assert (x = 1 - r + r * u) as Hu by (unfold u; field; lra).
  destruct (minus X (ratio p (Zpos d - n) d)) as [[a b]|] eqn:EM; [|discriminate].
  pose proof (one_posR p) as Ho. destruct (Z.ltb_spec 0 a) as [La|La].
  - destruct (T _) as [s|] eqn:ET; [|discriminate]. intros Ht Y P Q HC f Pf Qf. pose proof M as M'. simpl in M'.
    assert (0 < x - (1 - r)) as Hpos by (apply IZR_lt in La; apply Rmult_lt_reg_r with (IZR (one p)); lra).
    assert (0 < u) as Hu0 by (apply Rmult_lt_0_compat; [assumption | now apply Rinv_0_lt_compat]).
    pose proof (H _ u s (over_holds p _ _ _ _ M R1) Hu0 ET) as B.
    eapply Rle_trans; [apply (sampled_bound r C x u (real_of p s) Hu (Rlt_le _ _ Hu0) B Y P Q HC f Pf Qf)|].
    apply (upper_end_ge _ _ _ (times_holds p _ _ _ _ R1 (exactly_holds p s)) Ht).
  - destruct (over p (Some (0%Z, Z.max 0 b)) (ratio p n d)) as [[w1 w]|] eqn:EO; [|discriminate].
    intros Ht Y P Q HC f Pf Qf. inversion Ht; subst t; clear Ht.
    eapply Rle_trans; [apply (sampled_trivial r C x u Hu Y P Q HC f Pf Qf)|].
    assert (holds p (Some (0%Z, Z.max 0 b)) (Rmax 0 (x - (1 - r)))) as Hw.
    { simpl in *. unfold Rmax. destruct (Rle_dec 0 (x - (1 - r))).
      - split; [nra|]. apply Rle_trans with (IZR b); [lra | apply IZR_le; lia].
      - rewrite Rmult_0_l. split; [lra | apply IZR_le; lia]. }
    pose proof (over_holds p _ _ _ _ Hw R1) as Hq. rewrite EO in Hq. simpl in Hq.
    assert (Rmax 0 u <= Rmax 0 (x - (1 - r)) / r) as Hm.
    { unfold u. set (y := x - (1 - r)). assert (y = y / r * r) as Ey by (field; lra). unfold Rmax.
      destruct (Rle_dec 0 (y / r)) as [L1|L1], (Rle_dec 0 y) as [L2|L2]; nra. }
    rewrite EX in HX. simpl in HX. unfold real_of. rewrite plus_IZR, minus_IZR.
    apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
    replace ((IZR (one p) - IZR x1 + IZR w) / IZR (one p) * IZR (one p)) with (IZR (one p) - IZR x1 + IZR w) by (field; lra).
    nra.
Qed.

(* Finitely many outcomes with enclosed probabilities. *)
Fixpoint excess_ends (l : list (ends * ends)) (X : ends) : ends :=
  match l with
  | [] => whole p 0
  | (u, v) :: rest => plus (positive_part (minus u (times p X v))) (excess_ends rest X)
  end.

Lemma excess_ends_holds l pairs X x : Forall2 (fun e c => holds p (fst e) (fst c) /\ holds p (snd e) (snd c)) l pairs ->
  holds p X x -> holds p (excess_ends l X) (excess pairs x).
Proof.
  intros H HX. unfold excess. induction H as [|[u v] [a b] l pairs [H1 H2] _ IH]; simpl; [apply (whole_holds p 0)|].
  apply plus_holds; [|exact IH]. apply positive_part_holds. apply minus_holds; [exact H1|]. now apply times_holds.
Qed.

(* The class of a finite law with these pairs of probabilities. *)
Inductive finite_pair (pairs : list (R * R)) : class :=
| is_finite_pair (P Q : probabilities) : each P = map fst pairs -> each Q = map snd pairs ->
    finite_pair pairs nat (finite P) (finite Q).

Definition finite_top (l : list (ends * ends)) : top := fun X => upper_end (excess_ends l X).

Lemma tops_finite l pairs : Forall2 (fun e c => holds p (fst e) (fst c) /\ holds p (snd e) (snd c)) l pairs ->
  tops (finite_top l) (finite_pair pairs).
Proof.
  intros H X x t HX Hx Ht Y P Q HC f Pf Qf. destruct HC as [P Q HP HQ].
  eapply Rle_trans; [|apply (upper_end_ge _ _ _ (excess_ends_holds l pairs X x H HX) Ht)].
  apply (finite_below P Q pairs HP HQ f Pf Qf). lra.
Qed.
End Tops.

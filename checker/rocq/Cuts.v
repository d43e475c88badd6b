(* A number with noise on the real line, as cells between cuts: the probabilities of half-lines, enclosed, and their differences. *)
From Coq Require Import Reals Lra Lia ZArith List Bool FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Fixed Exponential Logarithm Above Tops Line Moves Normal NormalTop Laplace Parts.
Open Scope R_scope.

Section Cuts.
Variable p : positive.

Section Weight.
Variable w : weight.
Variables (mu scale : R).
Hypothesis scale_pos : 0 < scale.
Let P := noisy_value w scale (mu * scale).
Let Q := noisy_value w scale 0.

Definition beyond_cut (c o : R) : R := half_line c (o / scale).

Lemma beyond_cut_mean v c : measurable (noisy_value w scale (v * scale)) (beyond_cut c) /\ mean (noisy_value w scale (v * scale)) (beyond_cut c) = tail w (c - v).
Proof.
  assert ((fun t => beyond_cut c (v * scale + scale * t)) = half_line (c - v)) as E.
  { rewrite <- half_line_move. extensionality t. unfold beyond_cut. f_equal. field. lra. }
  change (measurable (line w) (fun t => beyond_cut c (v * scale + scale * t)) /\ mean (line w) (fun t => beyond_cut c (v * scale + scale * t)) = tail w (c - v)).
  rewrite E. split; [apply half_line_test | apply tail_mean].
Qed.

Lemma beyond_cut_le c d o : c <= d -> 0 <= beyond_cut d o <= beyond_cut c o.
Proof. unfold beyond_cut, half_line. destruct (Rle_dec d (o / scale)), (Rle_dec c (o / scale)); lra. Qed.

(* The probabilities of what is above a multiple of 2^-p. *)
Variable tails : Z -> cell.
Hypothesis tails_hold : forall c, holds p (fst (tails c)) (tail w (real_of p c - mu)) /\ holds p (snd (tails c)) (tail w (real_of p c)).

Lemma beyond_cut_good c : good P Q (beyond_cut (real_of p c)) /\ encloses p P Q (beyond_cut (real_of p c)) (tails c).
Proof.
  destruct (beyond_cut_mean mu (real_of p c)) as [M1 E1]. destruct (beyond_cut_mean 0 (real_of p c)) as [M2 E2].
  rewrite Rmult_0_l in M2, E2. rewrite Rminus_0_r in E2. split.
  - split; [exact M1|]. split; [exact M2|]. intro o. unfold beyond_cut. apply half_line_bounds.
  - unfold encloses, P, Q. rewrite E1, E2. apply tails_hold.
Qed.

(* Cuts that do not rise are moved up. *)
Fixpoint cut_cells (low : Z) (before : cell) (cuts : list Z) : list cell :=
  match cuts with
  | [] => [before]
  | c :: rest => let c := Z.max low c in let t := tails c in
                 (minus (fst before) (fst t), minus (snd before) (snd t)) :: cut_cells c t rest
  end.
Definition line_cells (cuts : list Z) : list cell := cut_cells (hd 0%Z cuts) (whole p 1, whole p 1) cuts.

Lemma cut_cells_hold cuts : forall low before u, good P Q before -> encloses p P Q before u ->
  (forall c o, (low <= c)%Z -> beyond_cut (real_of p c) o <= before o) ->
  exists fs, matches p P Q fs (cut_cells low u cuts) /\ forall o, sum (fun f => f o) fs = before o.
Proof.
  induction cuts as [|c cuts IH]; intros low before u [G1 [G2 G3]] [E1 E2] H; cbn [cut_cells].
  - exists [before]. split; [|intro o; simpl; lra].
    split; [constructor; [exact (conj G1 (conj G2 G3)) | constructor] | constructor; [exact (conj E1 E2) | constructor]].
  - set (c' := Z.max low c). destruct (beyond_cut_good c') as [[B1 [B2 B3]] [D1 D2]].
    destruct (IH c' (beyond_cut (real_of p c')) (tails c') (conj B1 (conj B2 B3)) (conj D1 D2)) as [fs [[M1 M2] S]].
    { intros d o Hd. apply beyond_cut_le. now apply real_of_le. }
    exists ((fun o => before o + -1 * beyond_cut (real_of p c') o) :: fs). split.
    + assert (measurable P (fun o => -1 * beyond_cut (real_of p c') o)) as S1 by now apply measurable_scale.
      assert (measurable Q (fun o => -1 * beyond_cut (real_of p c') o)) as S2 by now apply measurable_scale.
      split; (constructor; [|assumption]).
      * split; [now apply measurable_plus|]. split; [now apply measurable_plus|]. intro o. specialize (H c' o ltac:(lia)). lra.
      * split; cbn [fst snd]; rewrite (mean_plus _ before), mean_scale by assumption.
        -- replace (mean P before + -1 * mean P (beyond_cut (real_of p c'))) with (mean P before - mean P (beyond_cut (real_of p c'))) by ring. now apply minus_holds.
        -- replace (mean Q before + -1 * mean Q (beyond_cut (real_of p c'))) with (mean Q before - mean Q (beyond_cut (real_of p c'))) by ring. now apply minus_holds.
    + intro o. cbn [sum]. rewrite S. lra.
Qed.

Theorem line_parts cuts : enclosed_parts p P Q (line_cells cuts).
Proof.
  destruct (cut_cells_hold cuts (hd 0%Z cuts) (fun _ => 1) (whole p 1, whole p 1)) as [fs [M S]].
  - split; [apply measurable_const|]. split; [apply measurable_const | intro; lra].
  - split; rewrite mean_const; apply (whole_holds p 1).
  - intros c o _. apply half_line_bounds.
  - exists fs. split; [exact M|]. intro o. rewrite S. lra.
Qed.
End Weight.

Definition gauss_tails (mu : ends) : Z -> cell :=
  let half := half_area_ends p in
  let twice := over p (whole p 1) (plus half half) in
  let t u := tail_ends p half twice u (growth p (times p u u)) in
  fun c => (t (minus (exactly c) mu), t (exactly c)).

Lemma gauss_tails_hold u mu : holds p u mu -> forall c, holds p (fst (gauss_tails u c)) (tail gauss (real_of p c - mu))
  /\ holds p (snd (gauss_tails u c)) (tail gauss (real_of p c)).
Proof.
  intros Hu c. pose proof (exactly_holds p c) as Hc. pose proof (minus_holds p _ _ _ _ Hc Hu) as Hm.
  split; (apply tail_ends_holds; [apply half_area_holds | assumption | now apply growth_holds, times_holds]).
Qed.

(* e^-c/2 for c >= 0, and 1 - e^c/2 for c <= 0 *)
Definition laplace_tail (u : ends) : ends :=
  let right := half_ends (exponential p (minus (whole p 0) u)) in
  let left := minus (whole p 1) (half_ends (exponential p u)) in
  match u, right, left with
  | Some (a, b), Some (r, r'), Some (l, l') =>
      if (0 <=? a)%Z then right else if (b <=? 0)%Z then left else Some (Z.min r l, Z.max r' l')
  | _, _, _ => None
  end.

Lemma laplace_tail_holds u c : holds p u c -> holds p (laplace_tail u) (tail laplace c).
Proof.
  intro H. pose proof (half_ends_holds p _ _ (exponential_holds p _ _ (minus_holds p _ _ _ _ (whole_holds p 0) H))) as R1.
  pose proof (minus_holds p _ _ _ _ (whole_holds p 1) (half_ends_holds p _ _ (exponential_holds p _ _ H))) as L1. rewrite Rminus_0_l in R1.
  assert (0 <= c -> tail laplace c = exp (- c) / 2) as TR by (intro Hc; apply (tail_laplace c Hc)).
  assert (c <= 0 -> tail laplace c = 1 - exp c / 2) as TL.
  { intro Hc. destruct (tail_laplace (- c) ltac:(lra)) as [_ T]. now rewrite Ropp_involutive in T. }
  unfold laplace_tail. destruct u as [[a b]|]; [|exact Logic.I].
  destruct (half_ends (exponential p (minus (whole p 0) (Some (a, b))))) as [[r r']|]; [|exact Logic.I].
  destruct (minus (whole p 1) (half_ends (exponential p (Some (a, b))))) as [[l l']|]; [|exact Logic.I].
  pose proof (one_posR p) as Ho. cbn [holds] in H.
  destruct (Z.leb_spec 0 a) as [La|]; [|destruct (Z.leb_spec b 0) as [Lb|]].
  - rewrite TR; [exact R1|]. apply IZR_le in La. apply Rmult_le_reg_r with (IZR (one p)); lra.
  - rewrite TL; [exact L1|]. apply IZR_le in Lb. apply Rmult_le_reg_r with (IZR (one p)); lra.
  - cbn [holds] in *. rewrite min_IZR, max_IZR. pose proof (Rmin_l (IZR r) (IZR l)). pose proof (Rmin_r (IZR r) (IZR l)).
    pose proof (Rmax_l (IZR r') (IZR l')). pose proof (Rmax_r (IZR r') (IZR l')).
    destruct (Rle_dec 0 c); [rewrite TR by assumption | rewrite TL by lra]; lra.
Qed.

Definition laplace_tails (mu : ends) (c : Z) : cell := (laplace_tail (minus (exactly c) mu), laplace_tail (exactly c)).
Lemma laplace_tails_hold u mu : holds p u mu -> forall c, holds p (fst (laplace_tails u c)) (tail laplace (real_of p c - mu))
  /\ holds p (snd (laplace_tails u c)) (tail laplace (real_of p c)).
Proof.
  intros Hu c. pose proof (exactly_holds p c) as Hc. split; apply laplace_tail_holds; [now apply minus_holds | exact Hc].
Qed.
End Cuts.

(* The pair of laws that attains each mechanism's curve (section 3 of the specification), as a list of enclosed outcomes. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool Permutation FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Line Moves Normal NormalTop Laplace Finite Sampling Basic Fixed Exponential Logarithm Above Tops Noise NoiseTop Statement Bounds Lower Parts Cuts.
Open Scope R_scope.

(* A count moves by the whole sensitivity. *)
Inductive farthest square a (a_pos : 0 < a) (shift : Z) : class :=
| is_farthest : farthest square a a_pos shift Z (noisy square a a_pos shift) (noisy square a a_pos 0).

(* A number with noise moves by the whole sensitivity. *)
Inductive farthest_value w (scale shift : R) : class :=
| is_farthest_value : farthest_value w scale shift R (noisy_value w scale shift) (noisy_value w scale 0).

(* With the user, without. Promises have no lower side. *)
Definition extreme (m : mechanism) : class :=
  match m with
  | FiniteLaw outcomes => finite_pair (real_pairs outcomes)
  | RandomizedResponse epsilon => finite_pair (response (Q2R epsilon))
  | DiscreteLaplace (Fraction n d) s => farthest false (noise_rate d n) (noise_rate_pos d n) (Zpos s)
  | DiscreteGaussian (Fraction n d) s => farthest true (noise_rate d (2 * n)) (noise_rate_pos d (2 * n)) (Zpos s)
  | Gaussian sigma s => farthest_value gauss (real_fraction sigma) (real_fraction s)
  | Laplace scale s => farthest_value laplace (real_fraction scale) (real_fraction s)
  | _ => fun _ _ _ => False
  end.

Inductive sampled_extreme (r : probability) (C : class) : class :=
| is_sampled_extreme Y P Q : C Y P Q -> sampled_extreme r C Y (mixture r P Q) Q.

Definition extreme_release (r : release) : class :=
  match rate r with None => extreme (runs r) | Some q => sampled_extreme (rate_of q) (extreme (runs r)) end.

(* These pairs are pairs of neighbours of the mechanism. *)
Theorem extreme_in_class r Y P Q : extreme_release r Y P Q -> class_of_release r Y P Q.
Proof.
  assert (forall m Y P Q, extreme m Y P Q -> class_of m Y P Q) as H.
  { intros m Y0 P0 Q0. destruct m; simpl; try contradiction; auto; repeat match goal with f : fraction |- _ => pose proof (fraction_pos f); destruct f end;
      intros [ ]; constructor; first [lia | rewrite Rminus_0_r, Rabs_pos_eq; lra]. }
  unfold extreme_release, class_of_release. destruct (rate r); [|apply H]. intros [Y0 P0 Q0 H0]. constructor. constructor. now apply H.
Qed.

Section Outcomes.
Variable p : positive.
Local Notation encloses := (encloses p).
Local Notation enclosed_parts := (enclosed_parts p).

(* Outcomes one by one: the parts are those of single outcomes. *)
Section Single.
Context {A : Type}.
Variable same : A -> A -> bool.
Hypothesis same_spec : forall a b, same a b = true <-> a = b.
Definition only (k o : A) : R := if same k o then 1 else 0.

Lemma only_sum l o : NoDup l -> sum (fun k => only k o) l <= 1.
Proof.
  intro H. assert (sum (fun k => only k o) l <= 1 /\ (~ In o l -> sum (fun k => only k o) l = 0)); [|tauto].
  induction H as [|k l Hk _ [IH1 IH2]]; simpl; [split; lra|]. unfold only at 1 3. destruct (same k o) eqn:E.
  - apply same_spec in E. subst k. rewrite (IH2 Hk). split; [lra | tauto].
  - split; [lra|]. intro N. rewrite IH2 by tauto. lra.
Qed.
Lemma only_bounds k o : 0 <= only k o <= 1.
Proof. unfold only. destruct (same k o); lra. Qed.
End Single.

Lemma weighted_only l : forall i k, weighted l i (only Nat.eqb k) = if (i <=? k)%nat then nth (k - i) l 0 else 0.
Proof.
  induction l as [|a l IH]; intros i k; simpl; [destruct (i <=? k)%nat; [now destruct (k - i)%nat | reflexivity]|].
  rewrite IH. unfold only. destruct (Nat.eqb_spec k i) as [->|N].
  - rewrite Nat.leb_refl, Nat.sub_diag. destruct (Nat.leb_spec (S i) i); [lia | lra].
  - destruct (Nat.leb_spec (S i) k), (Nat.leb_spec i k); try lia; [|lra].
    destruct (k - i)%nat eqn:E; [lia|]. replace (k - S i)%nat with n by lia. lra.
Qed.

Definition ends_of (e : cell) (c : R * R) : Prop := holds p (fst e) (fst c) /\ holds p (snd e) (snd c).

Lemma finite_parts (P Q : probabilities) pairs cs : each P = map fst pairs -> each Q = map snd pairs ->
  Forall2 ends_of cs pairs -> enclosed_parts (finite P) (finite Q) cs.
Proof.
  intros HP HQ H. exists (map (only Nat.eqb) (seq 0 (length pairs))). split; [split|].
  - apply Forall_map, Forall_forall. intros k _. repeat split; try exact Logic.I. intro o. apply only_bounds.
  - assert (forall k, (k < length pairs)%nat -> mean (finite P) (only Nat.eqb k) = fst (nth k pairs (0, 0))
      /\ mean (finite Q) (only Nat.eqb k) = snd (nth k pairs (0, 0))) as N.
    { intros k Hk. simpl. rewrite HP, HQ, !weighted_only. simpl. rewrite Nat.sub_0_r.
      split; [exact (map_nth fst pairs (0, 0) k) | exact (map_nth snd pairs (0, 0) k)]. }
    unfold encloses. clear HP HQ. revert N. generalize (mean (finite P)) (mean (finite Q)). intros m m' N.
    assert (forall (suffix : list (R * R)) (i : nat), (forall k, (k < length suffix)%nat -> m (only Nat.eqb (i + k)%nat) = fst (nth k suffix (0, 0))
        /\ m' (only Nat.eqb (i + k)%nat) = snd (nth k suffix (0, 0))) -> forall ds, Forall2 ends_of ds suffix ->
      Forall2 (fun f c => holds p (fst c) (m f) /\ holds p (snd c) (m' f)) (map (only Nat.eqb) (seq i (length suffix))) ds) as G.
    { clear. induction suffix as [|c suffix IH]; intros i N ds H; inversion H as [|d c' ds' ? [H1 H2] Hs]; subst; simpl; constructor.
      - destruct (N 0%nat ltac:(simpl; lia)) as [N1 N2]. rewrite Nat.add_0_r in N1, N2. simpl in N1, N2. rewrite N1, N2. now split.
      - apply IH; [|exact Hs]. intros k Hk. specialize (N (S k) ltac:(simpl; lia)). now rewrite Nat.add_succ_r in N. }
    now apply (G pairs 0%nat).
  - intro o. rewrite sum_map. apply only_sum; [apply Nat.eqb_eq | apply seq_NoDup].
Qed.

(* Integer noise: the outcomes k + shift, for k from -n to n. *)
Section Noise.
Variable square : bool.
Variables (num den : positive).
Let rate := noise_rate num den.
Let rate_pos := noise_rate_pos num den.

Lemma noisy_only v y : mean (noisy square rate rate_pos v) (only Z.eqb y) = weight square rate (y - v) / mass_of_all square rate.
Proof.
  rewrite noisy_mean by (apply limited_test; intro; apply only_bounds). rewrite mean_countable.
  replace (fun z => at_value square rate rate_pos v z * only Z.eqb y z)
    with (fun z => if Z.eqb z y then at_value square rate rate_pos v y else 0).
  - rewrite (proj2 (total_point y _)), at_value_weight. unfold Rdiv. ring.
  - extensionality z. unfold only. rewrite (Z.eqb_sym y z). destruct (Z.eqb_spec z y) as [->|]; ring.
Qed.

Definition mass_ends (n shift : nat) : ends :=
  let s := sum_ends p (map fst (noise_pairs p square num den n shift)) in
  match s, plus s (tail_ends p square num den n) with Some (a, _), Some (_, c) => Some (a, c) | _, _ => None end.

Definition noise_outcomes (n shift : nat) : list cell :=
  let all := mass_ends n shift in
  map (fun c => (over p (fst c) all, over p (snd c) all)) (noise_pairs p square num den n shift).

Lemma weights_hold n shift : holds p (sum_ends p (map fst (noise_pairs p square num den n shift))) (sum (weight square rate) (around n)).
Proof.
  pose proof (noise_pairs_spec p square num den n shift) as H.
  pose proof (sum_ends_holds p (map fst (noise_pairs p square num den n shift)) (map (weight square rate) (around n))) as S.
  rewrite sum_map in S. apply S. clear - H. revert H. generalize (noise_pairs p square num den n shift).
  induction (around n) as [|k l IH]; intros [|[u v] m] H; inversion H as [|? ? ? ? H1 H2]; subst; simpl; constructor; [apply H1 | now apply IH].
Qed.

Lemma mass_ends_holds n shift : holds p (mass_ends n shift) (mass_of_all square rate).
Proof.
  pose proof (weights_hold n shift) as S.
  pose proof (plus_holds p _ _ _ _ S (tail_ends_holds p square num den n)) as T. fold rate in T.
  unfold mass_ends. destruct (sum_ends p _) as [[a b]|]; [|exact Logic.I]. destruct (plus _ _) as [[c d]|]; [|exact Logic.I].
  pose proof (mass_of_all_ge square rate rate_pos n). pose proof (mass_of_all_le square rate rate_pos n). pose proof (one_posR p).
  simpl in *. split; [destruct S; nra | destruct T; nra].
Qed.

Lemma noise_parts n shift :
  enclosed_parts (noisy square rate rate_pos (Z.of_nat shift)) (noisy square rate rate_pos 0) (noise_outcomes n shift).
Proof.
  exists (map (fun k => only Z.eqb (k + Z.of_nat shift)%Z) (around n)). split; [split|].
  - apply Forall_map, Forall_forall. intros k _. repeat split; try (apply noisy_complete; intro; apply only_bounds). intro; apply only_bounds.
  - unfold noise_outcomes. pose proof (mass_ends_holds n shift) as M. set (all := mass_ends n shift) in *.
    pose proof (noise_pairs_spec p square num den n shift) as H. revert H. generalize (noise_pairs p square num den n shift).
    induction (around n) as [|k l IH]; intros [|c cs] H; inversion H as [|? ? ? ? [H1 H2] H3]; subst; simpl; constructor; [|now apply IH].
    unfold encloses. cbn [fst snd]. rewrite !noisy_only.
    replace (k + Z.of_nat shift - Z.of_nat shift)%Z with k by lia. replace (k + Z.of_nat shift - 0)%Z with (k + Z.of_nat shift)%Z by lia.
    split; apply over_holds; assumption.
  - intro o. rewrite sum_map.
    rewrite (sum_ext (fun k => only Z.eqb (k + Z.of_nat shift)%Z o) (fun k => only Z.eqb k (o - Z.of_nat shift)%Z)).
    + apply only_sum; [apply Z.eqb_eq | apply around_nodup].
    + intros k _. unfold only. destruct (Z.eqb_spec (k + Z.of_nat shift) o), (Z.eqb_spec k (o - Z.of_nat shift)); (reflexivity || lia).
Qed.
End Noise.

Definition noise_list (square : bool) (num den s : positive) : option (list cell) :=
  let n := reach p square num den in
  if (2 * Z.of_nat n + Zpos s <=? parts)%Z then Some (noise_outcomes square num den n (Pos.to_nat s)) else None.

(* Where the ratio of the densities of a moved number is u: about (ln u)/mu + mu/2, or ((ln u) + mu)/2. *)
Definition cut (square : bool) (mu : ends) (u : Z) : list Z :=
  match mu with
  | Some (m, _) => if (0 <? u)%Z && (0 <? m)%Z then
                     let y := guess p u in [if square then y * one p / m + m / 2 else (y + m) / 2]%Z
                   else []
  | None => []
  end.

(* A number with noise is cut where the ratio is one of these multiples of 2^-p; any cuts are sound. *)
Definition outcomes_of (ratios : list Z) (m : mechanism) : option (list cell) :=
  match m with
  | FiniteLaw outcomes => if proper_outcomes outcomes then Some (map (fun c => (real p (fst c), real p (snd c))) outcomes) else None
  | RandomizedResponse epsilon => Some (response_ends p (real p epsilon))
  | DiscreteLaplace (Fraction n d) s => noise_list false d n s
  | DiscreteGaussian (Fraction n d) s => noise_list true d (2 * n) s
  | Gaussian sigma s => let mu := fraction_ends p (shift_of sigma s) in
                        Some (line_cells p (gauss_tails p mu) (flat_map (cut true mu) ratios))
  | Laplace scale s => let mu := fraction_ends p (shift_of scale s) in
                       Some (line_cells p (laplace_tails p mu) (flat_map (cut false mu) ratios))
  | _ => None
  end.

Theorem outcomes_of_sound ratios m cs : outcomes_of ratios m = Some cs -> exists Y P Q, extreme m Y P Q /\ enclosed_parts P Q cs.
Proof.
  assert (forall square n d s, noise_list square n d s = Some cs -> exists Y P Q,
    farthest square (noise_rate n d) (noise_rate_pos n d) (Zpos s) Y P Q /\ enclosed_parts P Q cs) as N.
  { intros square n d s. unfold noise_list. destruct (_ <=? _)%Z; [|discriminate]. intro H. inversion H; subst.
    pose proof (noise_parts square n d (reach p square n d) (Pos.to_nat s)) as E. rewrite positive_nat_Z in E.
    eexists _, _, _. split; [constructor | exact E]. }
  assert (forall pairs, inhabited (finite_pair pairs) -> Forall2 ends_of cs pairs -> exists Y P Q, finite_pair pairs Y P Q /\ enclosed_parts P Q cs) as F.
  { intros pairs [Y [P [Q H]]] HF. exists Y, P, Q. split; [exact H|]. destruct H as [P Q HP HQ]. now apply (finite_parts P Q pairs). }
  assert (forall w scale s tails cuts, (forall c, holds p (fst (tails c)) (tail w (real_of p c - real_fraction (shift_of scale s)))
      /\ holds p (snd (tails c)) (tail w (real_of p c))) -> cs = line_cells p tails cuts ->
    exists Y P Q, farthest_value w (real_fraction scale) (real_fraction s) Y P Q /\ enclosed_parts P Q cs) as L.
  { intros w scale s tails cuts H ->. eexists _, _, _. split; [constructor|]. rewrite (shift_real scale s).
    apply (line_parts p w _ _ (fraction_pos scale) tails H). }
  destruct m; cbn [outcomes_of extreme];
    [.. | intro H; injection H as <-; apply (L gauss sigma sensitivity _ _ (gauss_tails_hold p _ _ (fraction_holds p _)) eq_refl)
        | intro H; injection H as <-; apply (L laplace scale sensitivity _ _ (laplace_tails_hold p _ _ (fraction_holds p _)) eq_refl)];
    repeat match goal with f : fraction |- _ => destruct f end; simpl; try discriminate; try apply N.
  - destruct (proper_outcomes _) eqn:E; [|discriminate]. intro H. inversion H; subst. apply F; [now apply proper_outcomes_inhabited|].
    unfold real_pairs. clear. induction outcomes as [|c l IH]; simpl; constructor; [split; apply real_holds | exact IH].
  - intro H. inversion H; subst. apply F; [apply response_inhabited | apply response_ends_holds, real_holds].
Qed.

(* Sampling at the rate n/d, and the order. *)
Definition sample_cell (n : Z) (d : positive) (c : cell) : cell :=
  (plus (times p (ratio p n d) (fst c)) (times p (ratio p (Zpos d - n) d) (snd c)), snd c).

Lemma enclosed_sampled {O} (P Q : law O) (r : probability) n d cs : value r = IZR n / IZR (Zpos d) -> enclosed_parts P Q cs ->
  enclosed_parts (mixture r P Q) Q (map (sample_cell n d) cs).
Proof.
  intros Hr [fs [[G E] S]]. exists fs. split; [|exact S].
  assert (holds p (ratio p (Zpos d - n) d) (1 - r)) as R1.
  { pose proof (ratio_holds p (Zpos d - n) d) as H. rewrite minus_IZR in H. assert (0 < IZR (Zpos d)) by now apply IZR_lt.
    replace (1 - r) with ((IZR (Zpos d) - IZR n) / IZR (Zpos d)) by (rewrite Hr; field; lra). exact H. }
  assert (holds p (ratio p n d) r) as R0 by (rewrite Hr; apply ratio_holds).
  split.
  - eapply Forall_impl; [|exact G]. intros f [G1 [G2 G3]]. repeat split; try assumption. destruct r. simpl. now split.
  - clear - E R0 R1. induction E as [|f c fs cs [E1 E2] _ IH]; simpl; constructor; [|exact IH].
    split; [|exact E2]. rewrite mixture_mean. apply plus_holds; now apply times_holds.
Qed.

(* The ratio p/q before sampling, where it is x (or q/p is x) with sampling: what is 0 or less is no ratio. *)
Definition ratio_before (o : order) (rate : option fraction) (x : ends) : Z :=
  match x with
  | Some (a, _) =>
      let u := match o with backward => (one p * one p / a)%Z | _ => a end in
      match rate with
      | None => u
      | Some (Fraction n d) => ((u * Zpos d - (Zpos d - Zpos n) * one p) / Zpos n)%Z
      end
  | None => 0%Z
  end.
Definition ratios_before (o : order) (rate : option fraction) (xs : list ends) : list Z :=
  let us := map (ratio_before o rate) xs in match o with backward => rev us | _ => us end.

(* The outcomes, cut where the ratio of the release is about one of xs. *)
Definition outcomes_of_release (o : order) (xs : list ends) (r : release) : option (list cell) :=
  match outcomes_of (ratios_before o (rate r) xs) (runs r) with
  | Some cs =>
      let sampled := match rate r with
                     | None => Some cs
                     | Some q => if (Zpos (numerator q) <=? Zpos (denominator q))%Z
                                 then Some (map (sample_cell (Zpos (numerator q)) (denominator q)) cs) else None
                     end in
      match sampled, o with
      | Some ds, forward => Some ds
      | Some ds, backward => Some (map swap ds)
      | _, _ => None
      end
  | None => None
  end.

Theorem outcomes_of_release_sound o xs r cs : outcomes_of_release o xs r = Some cs ->
  exists Y P Q, orient o (extreme_release r) Y P Q /\ enclosed_parts P Q cs.
Proof.
  unfold outcomes_of_release, extreme_release. destruct (outcomes_of _ (runs r)) as [ds|] eqn:E; [|discriminate].
  destruct (outcomes_of_sound _ _ _ E) as [Y [P [Q [HC H]]]].
  assert (forall ds', (match rate r with
                     | None => Some ds
                     | Some q => if (Zpos (numerator q) <=? Zpos (denominator q))%Z
                                 then Some (map (sample_cell (Zpos (numerator q)) (denominator q)) ds) else None
                     end) = Some ds' -> exists Y P Q,
    (match rate r with None => extreme (runs r) | Some q => sampled_extreme (rate_of q) (extreme (runs r)) end) Y P Q /\ enclosed_parts P Q ds') as S.
  { intro ds'. destruct (rate r) as [[n d]|]; simpl.
    - destruct (Z.leb_spec (Zpos n) (Zpos d)) as [L|]; [|discriminate]. intro H0. inversion H0; subst.
      exists Y, (mixture (rate_of (Fraction n d)) P Q), Q. split; [now constructor|]. apply enclosed_sampled; [|exact H].
      simpl. unfold real_fraction. simpl. apply Rmin_right. apply Rmult_le_reg_r with (IZR (Zpos d)); [now apply IZR_lt|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (now apply not_0_IZR). rewrite Rmult_1_r, Rmult_1_l. now apply IZR_le.
    - intro H0. inversion H0; subst. now exists Y, P, Q. }
  cbv zeta. destruct (match rate r with None => Some ds | Some _ => _ end) as [ds'|] eqn:D; [|discriminate].
  destruct (S ds' eq_refl) as [Y' [P' [Q' [H1 H2]]]].
  destruct o; intro H0; inversion H0; subst; [exists Y', P', Q' | exists Y', Q', P']; split; try assumption. now apply enclosed_swap.
Qed.
End Outcomes.

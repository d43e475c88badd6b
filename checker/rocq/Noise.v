(* Integer noise with probabilities in proportion to e^(-a |z|) or e^(-a z^2): discrete Laplace and discrete Gaussian. *)
From Coq Require Import Reals Lra Lia ZArith List Bool FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable.
Open Scope R_scope.

Section Noise.
Variable square : bool.  (* true: discrete Gaussian; false: discrete Laplace *)
Variable a : R.
Hypothesis a_pos : 0 < a.

Definition exponent (z : Z) : Z := if square then (z * z)%Z else Z.abs z.
Definition weight (z : Z) : R := exp (- a * IZR (exponent z)).

Lemma weight_pos z : 0 < weight z.
Proof. apply exp_pos. Qed.
Lemma exponent_even z : exponent (- z) = exponent z.
Proof. unfold exponent. destruct square; lia. Qed.
Lemma weight_even z : weight (- z) = weight z.
Proof. unfold weight. now rewrite exponent_even. Qed.

Lemma weight_le y z : (exponent y <= exponent z)%Z -> weight z <= weight y.
Proof.
  intro H. unfold weight. apply IZR_le in H.
  destruct (Req_dec (IZR (exponent y)) (IZR (exponent z))) as [->|]; [lra|].
  left. apply exp_increasing. nra.
Qed.

(* Log-concave: moving by s >= 0 favours larger outcomes. *)
Lemma weight_ratio s z : (0 <= s)%Z -> weight (z + 1) * weight (z - s) <= weight (z + 1 - s) * weight z.
Proof.
  intro H. unfold weight. rewrite <- !exp_plus.
  assert (exponent (z + 1 - s) + exponent z <= exponent (z + 1) + exponent (z - s))%Z as E.
  { unfold exponent. destruct square; [nia | lia]. }
  apply IZR_le in E. rewrite !plus_IZR in E.
  destruct (Req_dec (- a * IZR (exponent (z + 1)) + - a * IZR (exponent (z - s))) (- a * IZR (exponent (z + 1 - s)) + - a * IZR (exponent z))) as [->|]; [lra|].
  left. apply exp_increasing. nra.
Qed.

(* A geometric series from 0 on. *)
Definition geometric (r : R) (z : Z) : R := if (0 <=? z)%Z then r ^ Z.to_nat z else 0.

Lemma geometric_total r : 0 < r < 1 -> summable (geometric r) /\ total (geometric r) = / (1 - r).
Proof.
  intro Hr. assert (forall n, right_half (geometric r) n = r ^ n) as E1.
  { intro n. unfold right_half, geometric. destruct (Z.leb_spec 0 (Z.of_nat n)); [now rewrite Nat2Z.id | lia]. }
  assert (forall n, left_half (geometric r) n = 0) as E2.
  { intro n. unfold left_half, geometric. destruct (Z.leb_spec 0 (-1 - Z.of_nat n)); [lia | reflexivity]. }
  assert (Rabs r < 1) as Ha by (rewrite Rabs_pos_eq; lra).
  destruct summable_0 as [Z0 _]. split.
  - split.
    + apply (ex_series_ext (fun n => r ^ n)); [|exact (ex_series_geom r Ha)]. intro n. rewrite E1, Rabs_pos_eq; [reflexivity | apply pow_le; lra].
    + apply (ex_series_ext (fun n => Rabs (right_half (fun _ => 0) n))); [|exact Z0]. intro n. now rewrite E2.
  - unfold total. rewrite (Series_ext (right_half (geometric r)) (fun n => r ^ n) E1), (Series_geom r Ha).
    rewrite (Series_ext (left_half (geometric r)) (fun n => 0 * left_half (geometric r) n)) by (intro n; rewrite E2; lra).
    rewrite Series_scal_l. lra.
Qed.

(* Beyond c the weights fall at least as fast as this geometric series. *)
Definition fall (c : Z) : R := exp (- a * IZR (exponent (c + 1) - exponent c)).

Lemma fall_bounds c : (0 <= c)%Z -> 0 < fall c < 1.
Proof.
  intro H. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing.
  assert (1 <= IZR (exponent (c + 1) - exponent c)); [|nra]. apply IZR_le. unfold exponent. destruct square; lia.
Qed.

Lemma weight_geometric c n : (0 <= c)%Z -> weight (c + Z.of_nat n) <= weight c * fall c ^ n.
Proof.
  intro Hc. induction n as [|n IH].
  - replace (c + Z.of_nat 0)%Z with c by lia. simpl. lra.
  - apply Rle_trans with (weight (c + Z.of_nat n) * fall c).
    + unfold weight, fall. rewrite <- exp_plus.
      assert (exponent (c + 1) - exponent c + exponent (c + Z.of_nat n) <= exponent (c + Z.of_nat (S n)))%Z as E.
      { unfold exponent. destruct square; nia. }
      apply IZR_le in E. rewrite plus_IZR in E.
      match goal with |- exp ?u <= exp ?v => destruct (Req_dec u v) as [->|]; [lra | left; apply exp_increasing; nra] end.
    + simpl. pose proof (fall_bounds c Hc). nra.
Qed.

Lemma weight_tail c z : (0 <= c)%Z ->
  weight z <= (if (Z.abs z <? c)%Z then weight z else 0)
    + weight c * (geometric (fall c) (z - c) + geometric (fall c) (- z - c)).
Proof.
  intro Hc. pose proof (weight_pos c). destruct (fall_bounds c Hc) as [F0 _].
  assert (forall y, 0 <= geometric (fall c) y) as G0.
  { intro y. unfold geometric. destruct (0 <=? y)%Z; [apply pow_le; lra | lra]. }
  pose proof (G0 (z - c)%Z). pose proof (G0 (- z - c)%Z).
  destruct (Z.ltb_spec (Z.abs z) c); [nra|].
  assert (weight z = weight (Z.abs z)) as -> by (destruct (Z.abs_eq_or_opp z) as [->| ->]; [reflexivity | now rewrite weight_even]).
  pose proof (weight_geometric c (Z.to_nat (Z.abs z - c)) Hc) as W.
  replace (c + Z.of_nat (Z.to_nat (Z.abs z - c)))%Z with (Z.abs z) in W by lia.
  destruct (Z.abs_eq_or_opp z) as [E|E].
  - unfold geometric at 1. destruct (Z.leb_spec 0 (z - c)); [|lia]. rewrite E in *. nra.
  - unfold geometric at 2. destruct (Z.leb_spec 0 (- z - c)); [|lia]. rewrite E in *. nra.
Qed.

Definition both_tails (c : Z) (z : Z) : R := geometric (fall c) (z - c) + geometric (fall c) (- z - c).

Lemma both_tails_total c : (0 <= c)%Z -> summable (both_tails c) /\ total (both_tails c) = 2 / (1 - fall c).
Proof.
  intro Hc. pose proof (fall_bounds c Hc) as Hf. destruct (geometric_total _ Hf) as [S0 T0].
  destruct (shift_total _ c S0) as [S1 T1].
  pose proof (summable_opposite _ S1) as S2. pose proof (total_opposite _ S1) as T2. cbn beta in S2, T2.
  split; [exact (summable_plus _ _ S1 S2)|]. unfold both_tails.
  rewrite (total_plus _ _ S1 S2), T2, T1, T0. field. lra.
Qed.

Lemma weight_summable : summable weight.
Proof.
  destruct (both_tails_total 0 ltac:(lia)) as [S0 _].
  apply summable_le with (fun z => weight 0 * both_tails 0 z); [|now apply summable_scale].
  intro z. rewrite Rabs_pos_eq by (left; apply weight_pos). pose proof (weight_tail 0 z ltac:(lia)) as W.
  destruct (Z.ltb_spec (Z.abs z) 0); [lia|]. unfold both_tails. lra.
Qed.

Definition mass_of_all : R := total weight.

(* The integers from -n to n. *)
Definition around (n : nat) : list Z := map (fun k => Z.of_nat k - Z.of_nat n)%Z (seq 0 (2 * n + 1)).

Lemma around_spec n z : In z (around n) <-> (Z.abs z <= Z.of_nat n)%Z.
Proof.
  unfold around. rewrite in_map_iff. split.
  - intros [k [<- Hk]]. apply in_seq in Hk. lia.
  - intro H. exists (Z.to_nat (z + Z.of_nat n)). split; [lia|]. apply in_seq. lia.
Qed.
Lemma around_nodup n : NoDup (around n).
Proof. apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros i j H. lia. Qed.

(* The weights outside of -n, ..., n. *)
Definition tail_bound (n : nat) : R := weight (Z.of_nat n + 1) * (2 / (1 - fall (Z.of_nat n + 1))).

Lemma mass_of_all_le n : mass_of_all <= sum weight (around n) + tail_bound n.
Proof.
  destruct (total_points (around n) weight) as [S1 T1].
  destruct (both_tails_total (Z.of_nat n + 1) ltac:(lia)) as [S2 T2].
  unfold mass_of_all, tail_bound. rewrite <- T1, <- T2, <- total_scale, <- total_plus by auto using summable_scale.
  apply total_le; auto using weight_summable, summable_plus, summable_scale. intro z.
  rewrite at_points_in by apply around_nodup. pose proof (weight_tail (Z.of_nat n + 1) z ltac:(lia)) as W.
  fold (both_tails (Z.of_nat n + 1) z) in W.
  destruct (in_dec Z.eq_dec z (around n)) as [i|i]; rewrite around_spec in i; destruct (Z.ltb_spec (Z.abs z) (Z.of_nat n + 1)); (lia || lra).
Qed.

Lemma mass_of_all_ge n : sum weight (around n) <= mass_of_all.
Proof.
  destruct (total_points (around n) weight) as [S1 T1]. unfold mass_of_all. rewrite <- T1.
  apply total_le; auto using weight_summable. intro z. rewrite at_points_in by apply around_nodup.
  pose proof (weight_pos z). destruct (in_dec Z.eq_dec z (around n)); lra.
Qed.

Lemma sum_around_pos n : 0 < sum weight (around n).
Proof.
  unfold around. replace (2 * n + 1)%nat with (S (2 * n)) by lia. simpl.
  set (z := (- Z.of_nat n)%Z). pose proof (weight_pos z).
  assert (0 <= sum weight (map (fun k => Z.of_nat k - Z.of_nat n)%Z (seq 1 (n + (n + 0))))); [|lra].
  apply sum_nonneg. intros. left. apply weight_pos.
Qed.

Lemma mass_of_all_pos : 0 < mass_of_all.
Proof. pose proof (mass_of_all_ge 0). pose proof (sum_around_pos 0). lra. Qed.

(* The noise. *)
Definition noise : masses.
Proof.
  refine (Masses (fun z => / mass_of_all * weight z) _ _ _); pose proof mass_of_all_pos as H.
  - intro z. pose proof (weight_pos z). apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat | lra].
  - apply summable_scale, weight_summable.
  - rewrite total_scale. unfold mass_of_all. now apply Rinv_l, Rgt_not_eq.
Defined.

Arguments noise : simpl never.

(* A count with this noise. *)
Definition noisy (value : Z) : law Z := image (Z.add value) (countable noise).

(* The values of neighbours differ by at most shift. *)
Inductive moved (shift : Z) : class :=
| is_moved (v w : Z) : (Z.abs (v - w) <= shift)%Z -> moved shift Z (noisy v) (noisy w).

Lemma limited_shift f (s : Z) : limited f -> limited (fun z => f (s + z)%Z).
Proof. intros [M HM]. exists M. intro z. apply HM. Qed.

(* The law of the output, outcome by outcome. *)
Definition at_value (value : Z) : masses.
Proof.
  destruct (shift_total noise value (mass_summable noise)) as [S T].
  refine (Masses (fun z => noise (z - value)%Z) _ S _); [intro; apply mass_nonneg | rewrite T; apply mass_total].
Defined.

Arguments at_value : simpl never.

Lemma at_value_noise value z : at_value value z = noise (z - value)%Z.
Proof. unfold at_value. now destruct (shift_total noise value (mass_summable noise)). Qed.
Lemma noise_weight z : noise z = / mass_of_all * weight z.
Proof. reflexivity. Qed.
Lemma at_value_weight value z : at_value value z = / mass_of_all * weight (z - value).
Proof. now rewrite at_value_noise. Qed.

Lemma mean_countable p f : mean (countable p) f = total (fun z => p z * f z).
Proof. reflexivity. Qed.
Lemma mean_noisy value f : mean (noisy value) f = total (fun z => noise z * f (value + z)%Z).
Proof. reflexivity. Qed.

Lemma noisy_mean value f : limited f -> mean (noisy value) f = mean (countable (at_value value)) f.
Proof.
  intro Hf. rewrite mean_noisy, mean_countable. pose proof (summable_mass noise _ (limited_shift f value Hf)) as S.
  destruct (shift_total _ value S) as [_ T]. rewrite <- T. f_equal. extensionality z. rewrite at_value_noise.
  now replace (value + (z - value))%Z with z by lia.
Qed.

Lemma noisy_measurable value f : measurable (noisy value) f -> limited f.
Proof. intros [M HM]. exists M. intro z. specialize (HM (z - value)%Z). now replace (value + (z - value))%Z with z in HM by lia. Qed.

Lemma noisy_complete value : complete (noisy value).
Proof. intros h Hh. exists 1. intro z. rewrite Rabs_pos_eq; apply Hh. Qed.

(* The sum that the checker computes for a shift. *)
Definition shifted_excess (shift : Z) (n : nat) (x : R) : R :=
  (sum (fun k => pos (weight k - x * weight (k + shift))) (around n) + tail_bound n) / sum weight (around n).

Lemma at_shift_below shift n : below (shifted_excess shift n) (countable (at_value shift)) (countable (at_value 0)).
Proof.
  pose proof mass_of_all_pos as HM. pose proof (sum_around_pos n) as HS.
  apply below_weaken with (fun x => sum (fun z => pos (at_value shift z - x * at_value 0 z)) (map (Z.add shift) (around n))
      + (1 - sum (at_value shift) (map (Z.add shift) (around n)))).
  - apply truncated_positive_parts. apply FinFun.Injective_map_NoDup; [intros i j; lia | apply around_nodup].
  - intros x Hx. rewrite !sum_map. unfold shifted_excess.
    rewrite (sum_ext (fun k => pos (at_value shift (shift + k)%Z - x * at_value 0 (shift + k)%Z))
      (fun k => / mass_of_all * pos (weight k - x * weight (k + shift)))).
    2: { intros k _. rewrite !at_value_weight. replace (shift + k - shift)%Z with k by lia. replace (shift + k - 0)%Z with (k + shift)%Z by lia.
         replace (/ mass_of_all * weight k - x * (/ mass_of_all * weight (k + shift))) with (/ mass_of_all * (weight k - x * weight (k + shift))) by ring.
         unfold pos. assert (0 < / mass_of_all) by now apply Rinv_0_lt_compat. set (d := weight k - _).
         destruct (Rle_dec 0 d); [rewrite !Rmax_right by nra | rewrite !Rmax_left by nra]; lra. }
    rewrite (sum_ext (fun k => at_value shift (shift + k)%Z) (fun k => / mass_of_all * weight k))
      by (intros k _; rewrite at_value_weight; now replace (shift + k - shift)%Z with k by lia).
    rewrite !sum_scale. pose proof (mass_of_all_le n). pose proof (mass_of_all_ge n).
    set (S := sum weight (around n)) in *. set (E := sum (fun k => pos _) (around n)).
    assert (0 <= E) by (apply sum_nonneg; intros; apply Rmax_l).
    apply Rle_trans with ((E + tail_bound n) / mass_of_all).
    + replace (/ mass_of_all * E + (1 - / mass_of_all * S)) with ((E + (mass_of_all - S)) / mass_of_all) by (field; lra).
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | lra].
    + apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; assumption.
Qed.

(* The best events are half-lines, so that a smaller shift is never worse. *)
Definition favours (s : Z) (x : R) (z : Z) : bool := if Rle_dec (x * weight z) (weight (z - s)) then true else false.

Lemma favours_next s x z : (0 <= s)%Z -> favours s x z = true -> favours s x (z + 1) = true.
Proof.
  unfold favours. intros Hs H. destruct (Rle_dec (x * weight z) (weight (z - s))) as [L|]; [|discriminate].
  destruct (Rle_dec _ _) as [|N]; [reflexivity|]. exfalso. apply N. pose proof (weight_ratio s z Hs).
  pose proof (weight_pos z). pose proof (weight_pos (z + 1)). apply Rmult_le_reg_r with (weight z); [assumption|]. nra.
Qed.

Lemma favours_up s x z y : (0 <= s)%Z -> (z <= y)%Z -> favours s x z = true -> favours s x y = true.
Proof.
  intros Hs Hzy H. replace y with (z + Z.of_nat (Z.to_nat (y - z)))%Z by lia. induction (Z.to_nat (y - z)) as [|n IH].
  - now replace (z + Z.of_nat 0)%Z with z by lia.
  - replace (z + Z.of_nat (S n))%Z with (z + Z.of_nat n + 1)%Z by lia. now apply favours_next.
Qed.

Lemma limited_test {f : Z -> R} : (forall z, 0 <= f z <= 1) -> limited f.
Proof. intro H. exists 1. intro z. rewrite Rabs_pos_eq; apply H. Qed.

Lemma smaller_shift shift G s f x : below G (countable (at_value shift)) (countable (at_value 0)) ->
  (0 <= s <= shift)%Z -> (forall z, 0 <= f z <= 1) -> 0 <= x ->
  total (fun z => noise z * f (s + z)%Z) - x * total (fun z => noise z * f z) <= G x.
Proof.
  intros HG Hs Hf Hx. set (S := indicator (favours s x)).
  assert (forall z, 0 <= S z <= 1) as HS by (intro; apply indicator_bounds).
  pose proof (HG S (conj (limited_test HS) HS) (conj (limited_test HS) HS) x Hx) as B.
  rewrite !mean_countable in B.
  assert (forall v h, (forall z, 0 <= h z <= 1) -> summable (fun z => noise (z - v)%Z * h z)
      /\ total (fun z => noise (z - v)%Z * h z) = total (fun z => noise z * h (v + z)%Z)) as Sh.
  { intros v h Hh. pose proof (summable_mass noise _ (limited_shift h v (limited_test Hh))) as E.
    destruct (shift_total _ v E) as [E1 T1]. cbn beta in E1, T1.
    replace (fun z => noise (z - v)%Z * h z) with (fun z => noise (z - v)%Z * h (v + (z - v))%Z)
      by (extensionality z; f_equal; f_equal; lia). auto. }
  replace (fun z => at_value shift z * S z) with (fun z => noise (z - shift)%Z * S z) in B
    by (extensionality z; now rewrite at_value_noise).
  replace (fun z => at_value 0 z * S z) with (fun z => noise (z - 0)%Z * S z) in B
    by (extensionality z; now rewrite at_value_noise).
  rewrite (proj2 (Sh shift S HS)) in B. rewrite (proj2 (Sh 0%Z S HS)) in B.
  replace (fun z => noise z * S (0 + z)%Z) with (fun z => noise z * S z) in B by (extensionality z; reflexivity).
  pose proof (summable_mass noise f (limited_test Hf)) as Sf. pose proof (summable_mass noise S (limited_test HS)) as SS.
  (* f is no better than S at shift s *)
  assert (total (fun z => noise z * f (s + z)%Z) - x * total (fun z => noise z * f z)
      <= total (fun z => noise z * S (s + z)%Z) - x * total (fun z => noise z * S z)) as H1.
  { rewrite <- (proj2 (Sh s f Hf)), <- (proj2 (Sh s S HS)).
    pose proof (proj1 (Sh s f Hf)) as A1. pose proof (proj1 (Sh s S HS)) as A2.
    enough (total (fun z => noise (z - s)%Z * f z + - x * (noise z * f z)) <= total (fun z => noise (z - s)%Z * S z + - x * (noise z * S z))) as E.
    { rewrite !total_plus, !total_scale in E by auto using summable_scale. lra. }
    apply total_le; auto using summable_plus, summable_scale. intro z. rewrite !noise_weight.
    assert (0 < / mass_of_all) as Hi by (apply Rinv_0_lt_compat, mass_of_all_pos). specialize (Hf z).
    unfold S, indicator, favours. destruct (Rle_dec (x * weight z) (weight (z - s))); set (i := / mass_of_all) in *.
    - enough (0 <= i * ((weight (z - s) - x * weight z) * (1 - f z))) by nra. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
    - enough (0 <= i * ((x * weight z - weight (z - s)) * f z)) by nra. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
  (* and S gains from a larger shift *)
  assert (total (fun z => noise z * S (s + z)%Z) <= total (fun z => noise z * S (shift + z)%Z)) as H2.
  { apply total_le; [apply summable_mass, limited_shift, (limited_test HS) | apply summable_mass, limited_shift, (limited_test HS) |].
    intro z. apply Rmult_le_compat_l; [apply mass_nonneg|]. unfold S, indicator.
    destruct (favours s x (s + z)) eqn:E; [|destruct (favours s x (shift + z)); lra].
    rewrite (favours_up s x (s + z) (shift + z)) by (lia || assumption). lra. }
  lra.
Qed.

Theorem largest_move shift G : below G (countable (at_value shift)) (countable (at_value 0)) ->
  forall Y P Q, moved shift Y P Q -> below G P Q.
Proof.
  intros HG Y P Q H. destruct H as [v w Hvw]. intros f [Pf Bf] _ x Hx. rewrite !mean_noisy.
  destruct (Z.le_ge_cases w v) as [L|L].
  - pose proof (smaller_shift shift G (v - w) (fun z => f (w + z)%Z) x HG ltac:(lia) (fun z => Bf _) Hx) as B. cbn beta in B.
    replace (fun z => noise z * f (v + z)%Z) with (fun z => noise z * f (w + (v - w + z))%Z) by (extensionality z; f_equal; f_equal; lia). exact B.
  - (* the mirror image *)
    assert (forall h, (forall z, 0 <= h z <= 1) -> total (fun z => noise z * h z) = total (fun z => noise z * h (- z)%Z)) as M.
    { intros h Hh. rewrite <- (total_opposite _ (summable_mass noise h (limited_test Hh))). f_equal. extensionality z.
      now rewrite !noise_weight, weight_even. }
    rewrite (M (fun z => f (v + z)%Z)) by (intro; apply Bf). rewrite (M (fun z => f (w + z)%Z)) by (intro; apply Bf).
    pose proof (smaller_shift shift G (w - v) (fun z => f (w - z)%Z) x HG ltac:(lia) (fun z => Bf _) Hx) as B. cbn beta in B.
    replace (fun z => noise z * f (v + - z)%Z) with (fun z => noise z * f (w - (w - v + z))%Z) by (extensionality z; f_equal; f_equal; lia).
    replace (fun z => noise z * f (w + - z)%Z) with (fun z => noise z * f (w - z)%Z) by (extensionality z; f_equal; f_equal; lia). exact B.
Qed.

Theorem moved_below shift n : forall Y P Q, moved shift Y P Q -> below (shifted_excess shift n) P Q.
Proof. apply largest_move, at_shift_below. Qed.

End Noise.

(* Several runs of Gaussian noise, each chosen by what was seen before: mu^2 adds up, exactly. *)
From Coq Require Import Reals Lra Lia ZArith List Permutation FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Line Moves Normal.
From DP Require NormalRenyi.
Open Scope R_scope.

Local Notation noise := (line gauss).
Local Notation half := (half_area gauss).

(* The mean of tail (a + b t) is tail (a/sqrt(1 + b^2)). Both have the same derivative in a, and are 1/2 at 0. *)
Lemma bell_slope t : Rabs (- (t * bell t)) <= 1.
Proof.
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (bell t)) by (left; apply bell_pos). pose proof (bell_pos t).
  assert (bell t * (1 + t * t / 2) <= 1) as B.
  { unfold bell. rewrite exp_Ropp. pose proof (exp_ineq1_le (t * t / 2)). pose proof (exp_pos (t * t / 2)).
    apply Rmult_le_reg_l with (exp (t * t / 2)); [assumption|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  assert (Rabs t <= 1 + t * t / 2); [|nra]. unfold Rabs. destruct (Rcase_abs t); nra.
Qed.

Lemma bell_near a b : Rabs (bell b - bell a) <= Rabs (b - a).
Proof.
  destruct (MVT_gen bell a b (fun t => - (t * bell t))) as [c [_ E]].
  - intros t _. apply bell_derive.
  - intros t _. apply continuity_pt_filterlim, bell_continuous.
  - rewrite E, Rabs_mult. pose proof (bell_slope c). pose proof (Rabs_pos (b - a)). nra.
Qed.

Lemma area_derive t : is_derive (area_of bell) t (bell t).
Proof.
  apply (is_derive_RInt (V := R_CompleteNormedModule) bell (area_of bell) 0).
  - exists (mkposreal 1 Rlt_0_1). intros y _. apply (RInt_correct (V := R_CompleteNormedModule) bell), bell_integrable.
  - apply bell_continuous.
Qed.

Lemma tail_taylor z h : Rabs (tail gauss (z + h) - tail gauss z + h * (bell z / (2 * half))) <= h * h / (2 * half).
Proof.
  pose proof (half_pos gauss) as Hp. destruct (MVT_gen (area_of bell) z (z + h) bell) as [c [Hc E]].
  - intros t _. apply area_derive.
  - intros t _. apply continuity_pt_filterlim, (ex_derive_continuous (V := R_NormedModule)). eexists. apply area_derive.
  - unfold tail. change (area_of gauss) with (area_of bell).
    replace (/ 2 - area_of bell (z + h) / (2 * half) - (/ 2 - area_of bell z / (2 * half)) + h * (bell z / (2 * half)))
      with (- ((area_of bell (z + h) - area_of bell z - h * bell z) / (2 * half))) by (field; lra).
    rewrite E. replace (bell c * (z + h - z) - h * bell z) with (h * (bell c - bell z)) by ring.
    rewrite Rabs_Ropp. unfold Rdiv. rewrite !Rabs_mult, (Rabs_pos_eq (/ (2 * half))) by (left; apply Rinv_0_lt_compat; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    pose proof (bell_near z c) as N. assert (Rabs (c - z) <= Rabs h) as A.
    { revert Hc. unfold Rmin, Rmax. unfold Rabs. destruct (Rle_dec z (z + h)), (Rcase_abs (c - z)), (Rcase_abs h); lra. }
    assert (Rabs h * Rabs h = h * h) as <- by (rewrite <- Rabs_mult; apply Rabs_pos_eq; apply Rle_0_sqr).
    apply Rmult_le_compat_l; [apply Rabs_pos | lra].
Qed.

(* Continuous functions from 0 to 1 are tests. *)
Lemma continuous_test (f : R -> R) : (forall t, continuous f t) -> (forall t, 0 <= f t <= 1) -> test noise f.
Proof.
  intros C B. split; [split|exact B]; [exists 1; intro t; rewrite Rabs_pos_eq; apply B|].
  intros a b. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
  apply (continuous_mult (K := R_AbsRing) f gauss); [apply C | apply bell_continuous].
Qed.

Lemma tail_continuous z : continuous (tail gauss) z.
Proof.
  apply (ex_derive_continuous (V := R_NormedModule)). exists (- (bell z / (2 * half))).
  unfold tail. apply is_derive_Reals. replace (- (bell z / (2 * half))) with (0 - bell z * / (2 * half)) by (unfold Rdiv; ring).
  apply (derivable_pt_lim_minus (fun _ => / 2) (fun c => area_of bell c * / (2 * half))); [apply derivable_pt_lim_const|].
  replace (bell z * / (2 * half)) with (bell z * / (2 * half) + area_of bell z * 0) by ring.
  apply (derivable_pt_lim_mult (area_of bell) (fun _ => / (2 * half))); [apply is_derive_Reals, area_derive | apply derivable_pt_lim_const].
Qed.

Lemma tail_bounds z : 0 <= tail gauss z <= 1.
Proof. rewrite <- tail_mean. apply (mean_bounds noise), half_line_test. Qed.

Lemma affine_continuous (f : R -> R) (a b : R) : (forall t, continuous f t) -> forall t : R, continuous (fun t : R => f (a + b * t)) t.
Proof.
  intros C t. apply (continuous_comp (fun t => a + b * t) f); [|apply C].
  apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact Logic.I.
Qed.

Lemma tail_test a b : test noise (fun t => tail gauss (a + b * t)).
Proof. apply continuous_test; [apply affine_continuous, tail_continuous | intro; apply tail_bounds]. Qed.
Lemma bell_test a b : test noise (fun t => bell (a + b * t)).
Proof.
  apply continuous_test; [apply affine_continuous, bell_continuous|]. intro t. pose proof (bell_pos (a + b * t)). split; [lra|].
  apply NormalRenyi.bell_le_1.
Qed.

(* The weight e^(-(s t)^2/2). *)
Section Scaled.
Variable s : R.
Hypothesis s_pos : 0 < s.

Lemma area_scaled c : area_of (fun t => bell (s * t)) c = area_of bell (s * c) / s.
Proof.
  assert (integrable (fun t => bell (s * t))) as I.
  { intros u v. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
    apply (continuous_ext (fun t => bell (0 + s * t))); [intro; now rewrite Rplus_0_l|]. apply affine_continuous, bell_continuous. }
  assert (s * RInt (fun t => bell (s * t)) 0 c = RInt bell 0 (s * c)) as E.
  { rewrite <- integral_scale by exact I. pose proof (RInt_comp_lin bell s 0 0 c) as E. rewrite Rmult_0_r, !Rplus_0_r in E.
    etransitivity; [|apply E, bell_integrable]. apply RInt_ext. intros t _. unfold scal. simpl. unfold mult. simpl. now rewrite Rplus_0_r. }
  unfold area_of. rewrite <- E. set (x := RInt (fun t => bell (s * t)) 0 c : R). change (x = s * x / s). field. lra.
Qed.

Lemma scaled_limit : is_lim_seq (fun n => area_of (fun t => bell (s * t)) (INR n)) (half / s).
Proof.
  apply (is_lim_seq_ext (fun n => / s * area_of bell (s * INR n))).
  { intro n. rewrite area_scaled. unfold Rdiv. ring. }
  replace (Finite (half / s)) with (Rbar_mult (/ s) half) by (simpl; f_equal; unfold Rdiv; ring).
  apply is_lim_seq_scal_l.
  apply (is_lim_seq_le_le_loc (fun n => half - / s * / INR n) _ (fun _ => half)).
  - exists 1%nat. intros n Hn. assert (1 <= INR n) as H1 by (now apply (le_INR 1)). assert (0 < s * INR n) as Hp by nra.
    pose proof (half_area_far (s * INR n) Hp) as F. pose proof (area_below gauss (s * INR n)) as A. change (height gauss) with bell in *.
    split; [|exact A]. assert (bell (s * INR n) / (s * INR n) <= / s * / INR n); [|lra].
    rewrite <- Rinv_mult. unfold Rdiv. rewrite <- (Rmult_1_l (/ (s * INR n))) at 2. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    pose proof (bell_test (s * INR n) 0) as [_ B]. specialize (B 0). rewrite Rmult_0_l, Rplus_0_r in B. lra.
  - replace (Finite half) with (Finite (half - / s * 0)) by (f_equal; ring). apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply (is_lim_seq_scal_l (fun n => / INR n) (/ s) 0).
    apply (is_lim_seq_inv INR p_infty is_lim_seq_INR). discriminate.
  - apply is_lim_seq_const.
Qed.

Definition scaled : weight.
Proof.
  refine (Weight (fun t => bell (s * t)) _ _ _ (half / s) scaled_limit).
  - intro t. apply bell_pos.
  - intro t. rewrite <- (bell_even (s * t)). f_equal. ring.
  - intro t. apply (continuous_ext (fun t => bell (0 + s * t))); [intro; now rewrite Rplus_0_l|]. apply affine_continuous, bell_continuous.
Defined.
End Scaled.

Definition stretch (b : R) : R := sqrt (1 + b * b).
Lemma stretch_pos b : 0 < stretch b.
Proof. apply sqrt_lt_R0. nra. Qed.
Lemma stretch_square b : stretch b * stretch b = 1 + b * b.
Proof. apply sqrt_sqrt. nra. Qed.

Lemma bell_mean a b : mean noise (fun t => bell (a + b * t)) = bell (a / stretch b) / stretch b.
Proof.
  pose proof (stretch_pos b) as Hs. pose proof (stretch_square b) as Hq. set (s := stretch b) in *. pose proof (half_pos gauss) as Hp.
  rewrite mean_noise. set (c := a * b / (s * s)).
  assert ((fun t => bell (a + b * t) * gauss t) = (fun t => bell (a / s) * scaled s Hs (t + c))) as ->.
  { extensionality t. change (bell (a + b * t) * bell t = bell (a / s) * bell (s * (t + c))). unfold bell. rewrite <- !exp_plus. f_equal.
    unfold c. replace (a / s * (a / s)) with (a * a / (s * s)) by (field; lra).
    replace (s * (t + a * b / (s * s)) * (s * (t + a * b / (s * s)))) with (s * s * (t + a * b / (s * s)) * (t + a * b / (s * s))) by ring.
    rewrite Hq. field. nra. }
  assert (limited_by (scaled s Hs) 1 (scaled s Hs)) as L by (intro t; pose proof (height_pos (scaled s Hs) t); rewrite Rabs_pos_eq; lra).
  destruct (cells_move (scaled s Hs) (scaled s Hs) 1 c (w_integrable _) L) as [_ T].
  unfold sums. rewrite cells_scale by (apply integrable_move, w_integrable). rewrite total_scale, T, weight_total.
  change (half_area (scaled s Hs)) with (half / s). field. lra.
Qed.

Lemma tail_even z : tail gauss (- z) = 1 - tail gauss z.
Proof. unfold tail. rewrite area_odd. field. pose proof (half_pos gauss). lra. Qed.

Theorem tail_mixture a b : mean noise (fun t => tail gauss (a + b * t)) = tail gauss (a / stretch b).
Proof.
  pose proof (stretch_pos b) as Hs. pose proof (half_pos gauss) as Hp. set (s := stretch b) in *.
  assert (1 <= s) as H1 by (unfold s, stretch; rewrite <- sqrt_1 at 1; apply sqrt_le_1_alt; nra).
  set (D := fun z => mean noise (fun t => tail gauss (z + b * t)) - tail gauss (z / s)).
  assert (forall z h, Rabs (D (z + h) - D z) <= h * h / half) as Flat.
  { intros z h. set (q := bell (z / s) / s).
    assert (Rabs (mean noise (fun t => tail gauss (z + h + b * t)) - mean noise (fun t => tail gauss (z + b * t)) + h * (q / (2 * half))) <= h * h / (2 * half)) as A.
    { set (k := fun t => tail gauss (z + h + b * t) + -1 * tail gauss (z + b * t) + h / (2 * half) * bell (z + b * t)).
      assert (measurable noise k /\ mean noise k = mean noise (fun t => tail gauss (z + h + b * t)) - mean noise (fun t => tail gauss (z + b * t)) + h * (q / (2 * half))) as [Mk Ek].
      { pose proof (proj1 (tail_test (z + h) b)) as T1. pose proof (proj1 (tail_test z b)) as T2. pose proof (proj1 (bell_test z b)) as T3.
        pose proof (measurable_scale noise (-1) _ T2) as S2. pose proof (measurable_scale noise (h / (2 * half)) _ T3) as S3.
        pose proof (measurable_plus noise _ _ T1 S2) as S12. split; [exact (measurable_plus noise _ _ S12 S3)|].
        unfold k. rewrite (mean_plus noise _ _ S12 S3), (mean_plus noise _ _ T1 S2), !mean_scale, bell_mean by assumption. fold s. unfold q. field. lra. }
      rewrite <- Ek. assert (forall t, Rabs (k t) <= h * h / (2 * half)) as K.
      { intro t. unfold k. replace (z + h + b * t) with (z + b * t + h) by ring.
        replace (tail gauss (z + b * t + h) + -1 * tail gauss (z + b * t) + h / (2 * half) * bell (z + b * t))
          with (tail gauss (z + b * t + h) - tail gauss (z + b * t) + h * (bell (z + b * t) / (2 * half))) by (field; lra). apply tail_taylor. }
      apply Rabs_le. split.
      - rewrite <- (mean_const noise (- (h * h / (2 * half)))). apply mean_le; [apply measurable_const | exact Mk|].
        intro t. specialize (K t). apply Rabs_le_between in K. lra.
      - eapply Rle_trans; [|right; apply (mean_const noise (h * h / (2 * half)))]. apply mean_le; [exact Mk | apply measurable_const|].
        intro t. specialize (K t). apply Rabs_le_between in K. lra. }
    pose proof (tail_taylor (z / s) (h / s)) as B. replace (z / s + h / s) with ((z + h) / s) in B by (field; lra).
    replace (h / s * (bell (z / s) / (2 * half))) with (h * (q / (2 * half))) in B by (unfold q; field; lra).
    assert (h / s * (h / s) / (2 * half) <= h * h / (2 * half)) as C.
    { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. replace (h / s * (h / s)) with (h * h * (/ s * / s)) by (unfold Rdiv; ring).
      assert (0 < / s <= 1) by (split; [now apply Rinv_0_lt_compat | rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
      assert (/ s * / s <= 1) by nra. apply Rle_trans with (h * h * 1); [|lra]. apply Rmult_le_compat_l; [apply Rle_0_sqr | assumption]. }
    apply Rabs_le_between in A. apply Rabs_le_between in B. unfold D. apply Rabs_le.
    replace (h * h / half) with (h * h / (2 * half) + h * h / (2 * half)) by (field; lra). split; lra. }
  assert (forall z, is_derive D z 0) as Zero.
  { intro z. apply is_derive_Reals. intros e He. assert (0 < e * half) as Hd by nra. exists (mkposreal _ Hd). intros h Hh Hlt. simpl in Hlt.
    rewrite Rminus_0_r. unfold Rdiv. rewrite Rabs_mult, Rabs_inv. specialize (Flat z h). pose proof (Rabs_pos_lt h Hh) as P.
    apply Rmult_lt_reg_r with (Rabs h); [exact P|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    eapply Rle_lt_trans; [exact Flat|]. assert (h * h = Rabs h * Rabs h) as -> by (rewrite <- Rabs_mult; symmetry; apply Rabs_pos_eq; apply Rle_0_sqr).
    apply Rmult_lt_reg_r with half; [exact Hp|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    replace (e * Rabs h * half) with (e * half * Rabs h) by ring. now apply Rmult_lt_compat_r. }
  assert (D a = 0) as E.
  { destruct (MVT_gen D 0 a (fun _ => 0)) as [c [_ E]].
    - intros t _. apply Zero.
    - intros t _. apply continuity_pt_filterlim, (ex_derive_continuous (V := R_NormedModule)). eexists. apply Zero.
    - assert (D 0 = 0) as D0; [|rewrite D0 in E; lra]. unfold D. replace (0 / s) with 0 by (unfold Rdiv; ring).
      destruct (mirror_test gauss _ (tail_test 0 b)) as [_ M].
      assert ((fun t => tail gauss (0 + b * - t)) = (fun t => 1 - tail gauss (0 + b * t))) as F.
      { extensionality t. rewrite <- tail_even. f_equal. ring. }
      rewrite F, (mean_not noise _ (proj1 (tail_test 0 b))) in M.
      assert (tail gauss 0 = / 2) as -> by (unfold tail; rewrite area_0; field; lra). lra. }
  unfold D in E. lra.
Qed.

(* The whole is no better told than one move by the root of the sum of squares. *)
Lemma largest_value mu x : 0 < mu -> 0 < x -> forall h, test noise (fun t => h (t + mu)) -> test noise h ->
  mean noise (fun t => h (t + mu)) - x * mean noise h <= gauss_curve mu x.
Proof. intros Hm Hx h H1 H2. apply threshold_value; auto; [lra | now apply gauss_threshold]. Qed.

Lemma curve_rises m mu x : 0 < m <= mu -> 0 < x -> gauss_curve m x <= gauss_curve mu x.
Proof.
  intros Hm Hx. set (c := ln x / m + m / 2).
  assert (mean noise (fun t => half_line c (t + m)) - x * mean noise (half_line c) = gauss_curve m x) as <-.
  { rewrite half_line_move, !tail_mean. reflexivity. }
  apply (value_bound gauss mu x (gauss_curve mu x)); try lra.
  - apply largest_value; lra.
  - intros k Hk. apply gauss_likelihood; lra.
  - rewrite half_line_move. apply half_line_test.
  - apply half_line_test.
Qed.

Lemma const_below mu x k : 0 < mu -> 0 < x -> 0 <= k <= 1 -> k - x * k <= gauss_curve mu x.
Proof.
  intros Hm Hx Hk. assert (test noise (fun _ => k)) as T by (split; [apply measurable_const | auto]).
  pose proof (largest_value mu x Hm Hx (fun _ => k) T T) as B. now rewrite !mean_const in B.
Qed.

Section Step.
Variables (m x : R).

Lemma pair_sum k1 k2 : test noise (fun t => k1 (t + m)) -> test noise k2 ->
  mean noise (fun t => k1 (t + m)) - x * mean noise k2 = / (2 * half) * sums (fun t => k1 t * gauss (t - m) + - x * (k2 t * gauss t))
  /\ summable (cell (fun t => k1 t * gauss (t - m) + - x * (k2 t * gauss t))) /\ integrable (fun t => k1 t * gauss (t - m) + - x * (k2 t * gauss t)).
Proof.
  intros H1 H2. destruct (first_move gauss m k1 H1) as [S1 T1]. pose proof (first_integrable gauss m k1 H1) as I1.
  pose proof (second_summable gauss k2 H2) as S2. assert (integrable (fun t => k2 t * gauss t)) as I2 by apply H2.
  pose proof (integrable_scale (- x) _ I2) as I3. pose proof (summable_scale (- x) _ S2) as S3.
  split; [|split; [|now apply integrable_plus]].
  - rewrite !(mean_noise gauss), <- T1. unfold sums. rewrite (cells_plus _ _ I1 I3), (cells_scale _ _ I2), (total_plus _ _ S1 S3), total_scale. ring.
  - rewrite (cells_plus _ _ I1 I3), (cells_scale _ _ I2). now apply summable_plus.
Qed.

Variable nu : R.
Hypothesis nu_pos : 0 < nu.
Hypothesis x_pos : 0 < x.

Let a := (ln x + m * m / 2) / nu + nu / 2.
Let b := - (m / nu).
Let best t := tail gauss (a + b * t - nu) * gauss (t - m) + - x * (tail gauss (a + b * t) * gauss t).

Lemma best_at t g h : (forall y, 0 < y -> g - y * h <= gauss_curve nu y) -> g * gauss (t - m) + - x * (h * gauss t) <= best t.
Proof.
  intro H. unfold best. change (height gauss) with bell. rewrite bell_move. set (r := exp (m * t - m * m / 2)). assert (0 < r) as Hr by apply exp_pos.
  pose proof (bell_pos t) as Hb. assert (0 < x / r) as Hy by (apply Rmult_lt_0_compat; [assumption | now apply Rinv_0_lt_compat]).
  specialize (H (x / r) Hy). unfold gauss_curve in H.
  assert (ln (x / r) / nu + nu / 2 = a + b * t) as E.
  { unfold Rdiv at 2. rewrite ln_mult, ln_Rinv by (assumption || now apply Rinv_0_lt_compat). unfold r. rewrite ln_exp. unfold a, b. field. lra. }
  rewrite E in H. set (u := tail gauss (a + b * t - nu)) in *. set (v := tail gauss (a + b * t)) in *.
  apply (Rmult_le_compat_r (bell t * r)) in H; [|apply Rmult_le_pos; lra].
  replace ((g - x / r * h) * (bell t * r)) with (g * (bell t * r) + - x * (h * bell t)) in H by (field; lra).
  replace ((u - x / r * v) * (bell t * r)) with (u * (bell t * r) + - x * (v * bell t)) in H by (field; lra). exact H.
Qed.

Lemma step_line g h : test noise (fun t => g (t + m)) -> test noise h -> (forall t y, 0 < y -> g t - y * h t <= gauss_curve nu y) ->
  mean noise (fun t => g (t + m)) - x * mean noise h <= gauss_curve (sqrt (m * m + nu * nu)) x.
Proof.
  intros H1 H2 H. set (k1 := fun t => tail gauss (a + b * t - nu)). set (k2 := fun t => tail gauss (a + b * t)).
  assert ((fun t => k1 (t + m)) = fun t => tail gauss ((a + b * m - nu) + b * t)) as E1 by (extensionality t; unfold k1; f_equal; ring).
  assert (test noise (fun t => k1 (t + m))) as T1 by (rewrite E1; apply tail_test).
  assert (test noise k2) as T2 by apply tail_test.
  destruct (pair_sum g h H1 H2) as [Eg [Sg Ig]]. destruct (pair_sum k1 k2 T1 T2) as [Ek [Sk Ik]].
  pose proof (half_pos gauss). assert (mean noise (fun t => g (t + m)) - x * mean noise h <= mean noise (fun t => k1 (t + m)) - x * mean noise k2) as B.
  { rewrite Eg, Ek. apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra|]. apply total_le; [exact Sg | exact Sk|].
    intro z. apply RInt_le; [apply IZR_le; lia | apply Ig | apply Ik|]. intros t _. apply best_at. intros y Hy. now apply H. }
  eapply Rle_trans; [exact B|]. right. rewrite E1. unfold k2. rewrite !tail_mixture.
  pose proof (stretch_pos b) as Hs. pose proof (stretch_square b) as Hq. set (s := stretch b) in *.
  assert (nu * s * (nu * s) = m * m + nu * nu) as Hl.
  { replace (nu * s * (nu * s)) with (nu * nu * (s * s)) by ring. rewrite Hq. unfold b. field. lra. }
  rewrite <- Hl, sqrt_square by nra. unfold gauss_curve.
  assert (a / s = ln x / (nu * s) + nu * s / 2) as Ea.
  { replace (nu * s / 2) with (nu * s * (nu * s) / (2 * (nu * s))) by (field; lra). rewrite Hl. unfold a. field. lra. }
  assert ((a + b * m - nu) / s = ln x / (nu * s) + nu * s / 2 - nu * s) as Eb.
  { replace (nu * s) with (nu * s * (nu * s) / (nu * s)) at 3 by (field; lra). rewrite Hl, <- Ea. unfold b. field. lra. }
  now rewrite Ea, Eb.
Qed.
End Step.

Lemma step_class mu sigma nu x : 0 < mu -> 0 < sigma -> 0 < nu -> 0 < x -> forall Y P Q, moved_gaussian sigma (mu * sigma) Y P Q ->
  forall g h, test P g -> test Q h -> (forall o y, 0 < y -> g o - y * h o <= gauss_curve nu y) ->
  mean P g - x * mean Q h <= gauss_curve (sqrt (mu * mu + nu * nu)) x.
Proof.
  intros Hm Hs Hn Hx Y P Q [v u Hvu] g h Pg Qh H.
  assert (test noise (fun t => h (u + sigma * t))) as Th by (destruct Qh as [M B]; split; [exact M | intro; apply B]).
  assert (test noise (fun t => g (v + sigma * t))) as Tg by (destruct Pg as [M B]; split; [exact M | intro; apply B]).
  change (mean noise (fun t => g (v + sigma * t)) - x * mean noise (fun t => h (u + sigma * t)) <= gauss_curve (sqrt (mu * mu + nu * nu)) x).
  set (m := (v - u) / sigma). set (g' := fun t => g (u + sigma * t)).
  assert ((fun t => g (v + sigma * t)) = (fun t => g' (t + m))) as E by (extensionality t; unfold g', m; f_equal; field; lra).
  rewrite E in *. eapply Rle_trans; [apply (step_line m x nu Hn Hx g' _ Tg Th); intros t y Hy; now apply H|].
  assert (m * m <= mu * mu) as L.
  { assert (Rabs m <= mu) as A.
    { unfold m, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ sigma)) by (left; now apply Rinv_0_lt_compat).
      apply Rmult_le_reg_r with sigma; [assumption|]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    rewrite <- (Rabs_pos_eq (m * m)) by apply Rle_0_sqr. rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos. }
  assert (0 <= m * m) by apply Rle_0_sqr. apply curve_rises; [|exact Hx]. split; [apply sqrt_lt_R0; nra | apply sqrt_le_1_alt; lra].
Qed.

(* A run of class C moves a value by at most mu standard deviations sigma. *)
Definition within (a : R * R) (C : class) : Prop :=
  0 < fst a /\ 0 < snd a /\ forall Y P Q, C Y P Q -> moved_gaussian (snd a) (fst a * snd a) Y P Q.
Definition squares (l : list (R * R)) : R := sum (fun a => fst a * fst a) l.

Lemma squares_pos l Cs : Forall2 within l Cs -> l <> [] -> 0 < squares l.
Proof.
  intros H Hl. destruct H as [|a C l Cs [H1 _] H]; [congruence|]. unfold squares. simpl.
  assert (0 <= sum (fun a => fst a * fst a) l) by (apply sum_nonneg; intros; apply Rle_0_sqr). nra.
Qed.

Lemma nothing_spent s : spends [] s -> forall f, mean_first s f = mean_second s f.
Proof.
  destruct s as [|Y P Q next]; [reflexivity|]. intros [C [rest [Hp _]]]. now apply Permutation_nil_cons in Hp.
Qed.

Lemma list_eq_nil {A} (l : list A) : {l = []} + {l <> []}.
Proof. destruct l; [now left | right; discriminate]. Qed.

Theorem gaussian_sessions s : forall l Cs, Forall2 within l Cs -> l <> [] -> spends Cs s -> forall f, decision s f -> forall x, 0 < x ->
  mean_first s f - x * mean_second s f <= gauss_curve (sqrt (squares l)) x.
Proof.
  induction s as [|Y P Q next IH]; intros l Cs HF Hl Hs f Hf x Hx.
  - simpl in *. apply const_below; [apply sqrt_lt_R0, (squares_pos l Cs HF Hl) | exact Hx | exact Hf].
  - destruct Hs as [C [rest [Hp [HC Hn]]]]. destruct (Forall2_permutation within _ _ Hp _ HF) as [l' [Hp' HF']].
    inversion HF' as [|a C' more rest' Ha Hmore]; subst. unfold squares. rewrite (sum_permutation _ _ _ Hp'). simpl sum.
    destruct Hf as [Hd [M1 [M2 M3]]]. destruct Ha as [A1 [A2 A3]].
    set (g := fun o => mean_first (next o) (fun t => f (existT _ o t))) in *.
    set (h := fun o => mean_second (next o) (fun t => f (existT _ o t))) in *.
    assert (test P g) as Tg by (split; [exact M1 | intro o; apply mean_first_bounds, Hd]).
    assert (test Q h) as Th by (split; [exact M3 | intro o; apply mean_second_bounds, Hd]).
    change (mean P g - x * mean Q h <= gauss_curve (sqrt (fst a * fst a + squares more)) x).
    destruct (list_eq_nil more) as [E|E].
    + subst more. inversion Hmore; subst. unfold squares. simpl. rewrite Rplus_0_r, sqrt_square by lra.
      assert (g = h) as E by (extensionality o; now apply nothing_spent). rewrite E in *.
      now apply (gaussian_below (fst a) (snd a) x A1 A2 Hx Y P Q (A3 _ _ _ HC)).
    + pose proof (squares_pos more rest Hmore E) as Hsq. rewrite <- (sqrt_sqrt (squares more)) by lra.
      apply (step_class (fst a) (snd a) (sqrt (squares more)) x A1 A2 (sqrt_lt_R0 _ Hsq) Hx Y P Q (A3 _ _ _ HC) g h Tg Th).
      intros o y Hy. apply (IH o more rest Hmore E (Hn o) _ (Hd o) y Hy).
Qed.

(* How flat a Gaussian sum over the integers is: T(1/2)/T(0) by rotations of the plane, and T(0) against the integral. *)
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Noise Theta Renyi ThetaArea.
Open Scope R_scope.

Lemma theta_even c t : 0 < c -> theta c (- t) = theta c t.
Proof.
  intro Hc. unfold theta. rewrite <- (total_opposite (bell c t)) by now apply bell_summable. f_equal. extensionality z.
  unfold bell. rewrite opp_IZR. f_equal. ring.
Qed.

Lemma theta_at_least c t : 0 < c -> exp (- c * (t * t)) * theta c 0 <= theta c t.
Proof.
  intro Hc. enough (2 * (exp (- c * (t * t)) * theta c 0) <= theta c t + theta c (- t)) as E by (rewrite theta_even in E by assumption; lra).
  unfold theta. rewrite <- !total_scale, <- total_plus by now apply bell_summable.
  apply total_le; [now apply summable_scale, summable_scale, bell_summable | apply summable_plus; now apply bell_summable |].
  intro z. assert (forall s, s * s = t * t -> bell c s z = exp (- c * (t * t)) * bell c 0 z * exp (2 * c * s * IZR z)) as E.
  { intros s Es. unfold bell. rewrite <- !exp_plus. f_equal. rewrite <- Es. ring. }
  rewrite (E t), (E (- t)) by ring. pose proof (bell_pos c 0 z). pose proof (exp_pos (- c * (t * t))).
  pose proof (exp_ineq1_le (2 * c * t * IZR z)). pose proof (exp_ineq1_le (2 * c * - t * IZR z)).
  assert (0 < exp (- c * (t * t)) * bell c 0 z) by nra. nra.
Qed.

Definition partial c t n := sum (bell c t) (around n).
Lemma partial_limit c t : 0 < c -> is_lim_seq (partial c t) (theta c t).
Proof. intro Hc. apply around_limit; [now apply bell_summable | intro; left; apply bell_pos]. Qed.
Lemma partial_at_most c t n : 0 < c -> 0 <= partial c t n <= theta c t.
Proof. intro Hc. split; [apply partial_nonneg | apply partial_le_total; [now apply bell_summable | intro; left; apply bell_pos]]. Qed.

Section Rotation.
Variable c : R.
Hypothesis c_pos : 0 < c.
Let T := theta c 0.
Let H := theta c (/ 2).
Let T2 := theta (2 * c) 0.
Let H2 := theta (2 * c) (/ 2).

Lemma square_at_0 : T * T <= T2 * T2 + H2 * H2.
Proof.
  apply (is_lim_seq_le (fun n => partial c 0 n * partial c 0 n) (fun _ => T2 * T2 + H2 * H2) (T * T) (T2 * T2 + H2 * H2));
    [|apply is_lim_seq_mult'; now apply partial_limit | apply is_lim_seq_const]. intro n. unfold partial. rewrite <- square_sum.
  eapply Rle_trans; [apply (sum_incl (both c 0 0) _ _ (square_nodup n) (square_in_turned n) (both_nonneg c 0 0))|].
  rewrite turned_sum. replace ((0 + 0) / 2) with 0 by field. replace ((0 - 0) / 2) with 0 by field.
  replace ((0 + 0 - 1) / 2) with (- / 2) by field. replace ((0 - 0 - 1) / 2) with (- / 2) by field.
  assert (0 < 2 * c) as H2c by lra. pose proof (partial_at_most (2 * c) 0 (2 * n) H2c) as A. pose proof (partial_at_most (2 * c) (- / 2) (2 * n) H2c) as B.
  rewrite theta_even in B by assumption. apply Rplus_le_compat; apply Rmult_le_compat; try apply A; apply B.
Qed.

Lemma square_at_half : 2 * (T2 * H2) <= H * H.
Proof.
  assert (0 < 2 * c) as H2c by lra.
  replace (2 * (T2 * H2)) with (theta (2 * c) (/ 2) * theta (2 * c) 0 + theta (2 * c) 0 * theta (2 * c) (- / 2))
    by (rewrite theta_even by assumption; unfold T2, H2; ring).
  apply (is_lim_seq_le (fun n => partial (2 * c) (/ 2) n * partial (2 * c) 0 n + partial (2 * c) 0 n * partial (2 * c) (- / 2) n) (fun _ => H * H)
    (theta (2 * c) (/ 2) * theta (2 * c) 0 + theta (2 * c) 0 * theta (2 * c) (- / 2)) (H * H)).
  - intro n. pose proof (turned_sum c (/ 2) (/ 2) n) as E. replace ((/ 2 + / 2) / 2) with (/ 2) in E by field. replace ((/ 2 - / 2) / 2) with 0 in E by field.
    replace ((/ 2 + / 2 - 1) / 2) with 0 in E by field. replace ((/ 2 - / 2 - 1) / 2) with (- / 2) in E by field.
    unfold partial. rewrite <- E. eapply Rle_trans; [apply (sum_incl (both c (/ 2) (/ 2)) _ _ (turned_nodup n) (turned_in_square n) (both_nonneg c _ _))|].
    rewrite square_sum. pose proof (partial_at_most c (/ 2) (2 * n + 1) c_pos) as A. apply Rmult_le_compat; apply A.
  - apply is_lim_seq_plus'; apply is_lim_seq_mult'; now apply partial_limit.
  - apply is_lim_seq_const.
Qed.

Lemma both_halves : T + H <= theta (c / 4) 0.
Proof.
  unfold T, H, theta at 1 2. rewrite <- total_plus by now apply bell_summable.
  apply total_le_bound; [apply summable_plus; now apply bell_summable | intro z; pose proof (bell_pos c 0 z); pose proof (bell_pos c (/ 2) z); lra |].
  intro n. rewrite sum_plus. set (l := map (fun z => 2 * z)%Z (around n) ++ map (fun z => 2 * z - 1)%Z (around n)).
  apply Rle_trans with (sum (bell (c / 4) 0) l).
  - unfold l. rewrite sum_app, !sum_map. right. f_equal; apply sum_ext; intros z _; unfold bell; f_equal; rewrite ?minus_IZR, mult_IZR; field.
  - eapply Rle_trans; [apply (sum_incl (bell (c / 4) 0) l (around (2 * n + 1)))|].
    + apply nodup_app; try (apply FinFun.Injective_map_NoDup; [intros i j E; lia | apply around_nodup]).
      intros z Hz Hz'. apply in_map_iff in Hz, Hz'. destruct Hz as [i [Ei _]]. destruct Hz' as [j [Ej _]]. lia.
    + intros z Hz. apply around_spec. apply in_app_iff in Hz. destruct Hz as [Hz|Hz]; apply in_map_iff in Hz; destruct Hz as [i [<- Hi]]; apply around_spec in Hi; lia.
    + intro; left; apply bell_pos.
    + apply partial_at_most. lra.
Qed.
End Rotation.

Definition gap (c : R) : R := 1 - theta c (/ 2) / theta c 0.

Lemma gap_bounds c : 0 < c -> 0 <= gap c <= 1 - exp (- (c / 4)).
Proof.
  intro Hc. unfold gap. pose proof (theta_pos c Hc 0) as Tp. pose proof (theta_largest_at_0 c Hc (/ 2)). pose proof (theta_at_least c (/ 2) Hc) as L.
  replace (- c * (/ 2 * / 2)) with (- (c / 4)) in L by field. set (r := theta c (/ 2) / theta c 0).
  assert (theta c (/ 2) = r * theta c 0) as E by (unfold r; field; lra). rewrite E in *. split; [assert (r <= 1) by nra; lra|].
  assert (exp (- (c / 4)) <= r) by (apply Rmult_le_reg_r with (theta c 0); lra). lra.
Qed.

Lemma gap_square c : 0 < c -> gap c <= gap (2 * c) * gap (2 * c).
Proof.
  intro Hc. pose proof (square_at_0 c Hc) as S0. pose proof (square_at_half c Hc) as S1. pose proof (gap_bounds c Hc) as [G0 G1].
  pose proof (gap_bounds (2 * c) ltac:(lra)) as [G2 G3]. pose proof (exp_pos (- (c / 4))). pose proof (exp_pos (- (2 * c / 4))).
  pose proof (theta_pos c Hc 0) as Tp. pose proof (theta_pos (2 * c) ltac:(lra) 0) as Tp2. unfold gap in *.
  set (r := theta c (/ 2) / theta c 0) in *. set (q := theta (2 * c) (/ 2) / theta (2 * c) 0) in *.
  assert (theta c (/ 2) = r * theta c 0) as E by (unfold r; field; lra). assert (theta (2 * c) (/ 2) = q * theta (2 * c) 0) as E2 by (unfold q; field; lra).
  rewrite E in S1. rewrite E2 in S0, S1. set (X := theta c 0) in *. set (A := theta (2 * c) 0) in *.
  assert (2 * q <= r * r * (1 + q * q)) as M.
  { apply Rmult_le_reg_r with (A * A); [nra|]. assert (0 <= r * r) by nra.
    assert (r * r * (X * X) <= r * r * (A * A + q * A * (q * A))) by (apply Rmult_le_compat_l; assumption). nra. }
  assert (r * r <= r) by nra. assert (0 <= q * q) by nra. assert (0 <= (1 - r * r) * (q * q)) by (apply Rmult_le_pos; nra). nra.
Qed.

Lemma gap_small c : 0 < c -> gap c <= c ^ 4.
Proof.
  intro Hc. pose proof (gap_bounds (4 * c) ltac:(lra)) as [A0 A1]. replace (4 * c / 4) with c in A1 by field.
  pose proof (exp_ineq1_le (- c)). pose proof (gap_bounds (2 * c) ltac:(lra)) as [B0 _].
  pose proof (gap_square c Hc) as S1. pose proof (gap_square (2 * c) ltac:(lra)) as S2. replace (2 * (2 * c)) with (4 * c) in S2 by ring.
  assert (gap (2 * c) <= c * c) by nra. replace (c ^ 4) with (c * c * (c * c)) by ring. nra.
Qed.

Lemma width_quarter c (Hc : 0 < c) (Hq : 0 < c / 4) : width (c / 4) Hq = 2 * width c Hc.
Proof.
  rewrite !width_is. assert (sqrt (2 * (c / 4)) = sqrt (2 * c) / 2) as ->.
  { replace (2 * (c / 4)) with (/ 2 * / 2 * (2 * c)) by field. rewrite sqrt_mult, sqrt_square by lra. field. }
  pose proof (root_pos c Hc). field. lra.
Qed.

Theorem theta_near c (Hc : 0 < c) : c <= 1 -> theta c 0 <= width c Hc * exp (2 * c ^ 4).
Proof.
  assert (forall n c (Hc : 0 < c), c <= 1 -> theta c 0 <= width c Hc * exp (2 * c ^ 4 + c * (/ 4) ^ S n)) as G.
  { induction n as [|n IH]; intros d Hd H1.
    - pose proof (theta_below_first d Hd) as T. pose proof (width_pos d Hd). rewrite pow_1. pose proof (pow_lt d 4 Hd).
      assert (exp (d / 4) <= exp (2 * d ^ 4 + d * / 4)) by (apply exp_le; lra). nra.
    - assert (0 < d / 4) as Hq by lra. specialize (IH (d / 4) Hq ltac:(lra)). rewrite (width_quarter d Hd Hq) in IH.
      pose proof (both_halves d Hd) as B. pose proof (gap_small d Hd) as G. pose proof (gap_bounds d Hd) as [G0 _].
      pose proof (theta_pos d Hd 0) as Tp. pose proof (width_pos d Hd) as Wp.
      assert (theta d (/ 2) = (1 - gap d) * theta d 0) as E by (unfold gap; field; lra). rewrite E in B. set (g := gap d) in *.
      assert (d ^ 4 <= 1) as P4 by (rewrite <- (pow1 4); apply pow_incr; lra).
      replace (2 * (d / 4) ^ 4 + d / 4 * (/ 4) ^ S n) with (d ^ 4 / 128 + d * (/ 4) ^ S (S n)) in IH by (simpl; field).
      set (y := d * (/ 4) ^ S (S n)) in *. set (Y := exp (d ^ 4 / 128 + y)) in *. assert (0 < Y) by apply exp_pos.
      assert (theta d 0 <= width d Hd * (exp g * Y)) as L.
      { pose proof (exp_ineq1_le g). assert (2 <= (2 - g) * exp g) by nra.
        apply Rmult_le_reg_l with (2 - g); [lra|]. apply Rle_trans with (2 * width d Hd * Y); [lra|].
        replace ((2 - g) * (width d Hd * (exp g * Y))) with ((2 - g) * exp g * (width d Hd * Y)) by ring.
        rewrite Rmult_assoc. apply Rmult_le_compat_r; [nra | assumption]. }
      eapply Rle_trans; [exact L|]. apply Rmult_le_compat_l; [lra|]. unfold Y. rewrite <- exp_plus. apply exp_le. pose proof (pow_lt d 4 Hd). lra. }
  intro H1. pose proof (theta_pos c Hc 0) as Tp. pose proof (width_pos c Hc) as Wp.
  assert (forall n, ln (theta c 0) - ln (width c Hc) - 2 * c ^ 4 <= c * (/ 4) ^ S n) as L.
  { intro n. specialize (G n c Hc H1). apply ln_le in G; [|assumption]. rewrite ln_mult, ln_exp in G by (assumption || apply exp_pos). lra. }
  assert (ln (theta c 0) - ln (width c Hc) - 2 * c ^ 4 <= 0) as L0.
  { set (d := ln (theta c 0) - ln (width c Hc) - 2 * c ^ 4) in *.
    apply (is_lim_seq_le (fun _ => d) (fun n => c * (/ 4) ^ S n) d 0 L); [apply is_lim_seq_const|].
    replace (Finite 0) with (Rbar_mult c 0) by (simpl; f_equal; ring). apply is_lim_seq_scal_l.
    apply (is_lim_seq_incr_1 (fun n => (/ 4) ^ n)), is_lim_seq_geom. rewrite Rabs_pos_eq; lra. }
  rewrite <- (exp_ln (theta c 0)), <- (exp_ln (width c Hc)), <- exp_plus by assumption. apply exp_le. lra.
Qed.

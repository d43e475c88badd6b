(* The Renyi divergence of Gaussian noise: mu^2/2 times the order, for every order. *)
From Coq Require Import Reals Lra Lia ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable Renyi Line Moves Normal.
Open Scope R_scope.

Local Notation noise := (line gauss).

(* x^b of a measurable function is measurable: it is a limit of minima of tangents, of which each is above x^b. *)
Section Power.
Variable b : R.
Hypothesis b_between : 0 < b < 1.

Definition tangent (z y : R) : R := exp (b * ln z) * (1 + b * (y / z - 1)).

Lemma tangent_above z y : 0 < z -> pw b y <= tangent z y \/ y <= 0.
Proof.
  intro Hz. destruct (Rlt_dec 0 y) as [Hy|]; [left|right; lra]. unfold pw, tangent. destruct (Rlt_dec 0 y); [|contradiction].
  pose proof (exp_convex b (1 - b) (ln (y / z)) 0 ltac:(lra) ltac:(lra) ltac:(lra)) as C.
  assert (0 < y / z) as Hq by (apply Rmult_lt_0_compat; [assumption | now apply Rinv_0_lt_compat]).
  rewrite exp_0, exp_ln in C by assumption. unfold Rdiv in C at 1. rewrite ln_mult, ln_Rinv in C by (assumption || now apply Rinv_0_lt_compat).
  replace (b * ln y) with (b * ln z + (b * (ln y + - ln z) + (1 - b) * 0)) by ring. rewrite exp_plus.
  apply Rmult_le_compat_l; [left; apply exp_pos | lra].
Qed.

Fixpoint lowest (n : R) (k : nat) (y : R) : R :=
  match k with O => 1 | S j => Rmin (tangent (INR (S j) / n) y) (lowest n j y) end.

Lemma lowest_above n k y : 0 < n -> 0 <= y <= 1 -> pw b y <= lowest n k y.
Proof.
  intros Hn Hy. induction k as [|j IH]; cbn [lowest]; [apply pw_le_1; lra|]. apply Rmin_glb; [|exact IH].
  assert (0 < INR (S j) / n) as Hz by (apply Rmult_lt_0_compat; [apply lt_0_INR; lia | now apply Rinv_0_lt_compat]).
  destruct (tangent_above _ y Hz) as [H|H]; [exact H|]. assert (y = 0) as -> by lra. rewrite pw_0 by lra. unfold tangent.
  apply Rmult_le_pos; [left; apply exp_pos|]. unfold Rdiv. rewrite Rmult_0_l. lra.
Qed.

Lemma lowest_le n k j y : (1 <= j <= k)%nat -> lowest n k y <= tangent (INR j / n) y.
Proof.
  induction k as [|k IH]; intro H; [lia|]. cbn [lowest]. destruct (Nat.eq_dec j (S k)) as [->|]; [apply Rmin_l|].
  eapply Rle_trans; [apply Rmin_r | apply IH; lia].
Qed.

Lemma lowest_near n y : (1 <= n)%nat -> 0 <= y <= 1 -> lowest (INR n) n y <= pw b y + exp (- b * ln (INR n)).
Proof.
  intros Hn Hy. assert (1 <= INR n) as H1 by (apply (le_INR 1); lia).
  assert (forall j, (1 <= j)%nat -> exp (b * ln (INR j / INR n)) / INR j <= exp (- b * ln (INR n))) as Small.
  { intros j Hj. assert (1 <= INR j) as Hj1 by (apply (le_INR 1); lia).
    assert (0 <= ln (INR j)) as L by (rewrite <- ln_1; destruct Hj1 as [X| <-]; [left; apply ln_increasing; lra | lra]).
    unfold Rdiv. rewrite ln_mult, ln_Rinv by (first [lra | apply Rinv_0_lt_compat; lra]).
    replace (/ INR j) with (exp (- ln (INR j))) by (rewrite exp_Ropp, exp_ln by lra; reflexivity).
    rewrite <- exp_plus. apply exp_le. nra. }
  destruct (Rle_dec (/ INR n) y) as [L|L].
  - destruct (nfloor_ex (y * INR n) ltac:(nra)) as [j [J1 J2]].
    assert (1 <= y * INR n) as Hy1 by (apply (Rmult_le_compat_r (INR n)) in L; [rewrite Rinv_l in L; lra | lra]).
    assert (1 <= j)%nat as Hj by (apply INR_le; assert (0 < j)%nat by (apply INR_lt; simpl; lra); apply (le_INR 1); lia).
    assert (j <= n)%nat as Hjn by (apply INR_le; nra).
    eapply Rle_trans; [apply (lowest_le _ _ j); lia|]. unfold tangent. set (z := INR j / INR n).
    assert (0 < INR j) as Hj0 by (apply lt_0_INR; lia).
    assert (0 < z) as Hz by (apply Rmult_lt_0_compat; [assumption | apply Rinv_0_lt_compat; lra]).
    assert (z <= y) as Hzy by (unfold z; apply Rmult_le_reg_r with (INR n); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
    assert (y / z - 1 <= / INR j) as Hr.
    { unfold z. apply Rmult_le_reg_r with (INR j); [assumption|]. rewrite Rinv_l by lra.
      replace ((y / (INR j / INR n) - 1) * INR j) with (y * INR n - INR j) by (field; lra). lra. }
    pose proof (Small j Hj) as S1. fold z in S1. set (e := exp (b * ln z)) in *. assert (0 < e) by apply exp_pos.
    assert (e <= pw b y) as P.
    { unfold pw. destruct (Rlt_dec 0 y); [|lra]. apply exp_le. apply Rmult_le_compat_l; [lra|].
      destruct Hzy as [X| ->]; [left; now apply ln_increasing | lra]. }
    assert (b * (y / z - 1) <= / INR j).
    { assert (0 <= y / z - 1); [|nra]. apply Rmult_le_reg_r with z; [assumption|]. unfold Rdiv. rewrite Rmult_minus_distr_r, Rmult_assoc, Rinv_l; lra. }
    assert (e * (b * (y / z - 1)) <= e * / INR j) by (apply Rmult_le_compat_l; lra). unfold Rdiv in S1. lra.
  - eapply Rle_trans; [apply (lowest_le _ _ 1); lia|]. pose proof (Small 1%nat (le_n 1)) as S1. unfold tangent. simpl INR in *.
    set (e := exp (b * ln (1 / INR n))) in *. assert (0 < e) by apply exp_pos. pose proof (pw_nonneg b y).
    assert (y / (1 / INR n) <= 1).
    { replace (y / (1 / INR n)) with (y * INR n) by (field; lra). apply Rnot_le_lt in L. apply (Rmult_lt_compat_r (INR n)) in L; [|lra]. rewrite Rinv_l in L; lra. }
    assert (e * (1 + b * (y / (1 / INR n) - 1)) <= e * 1) by (apply Rmult_le_compat_l; nra). lra.
Qed.

Lemma lowest_measurable n k h : measurable noise h -> measurable noise (fun t => lowest n k (h t)).
Proof.
  intro H. induction k as [|j IH]; cbn [lowest]; [apply measurable_const|].
  apply (measurable_min noise (fun t => tangent (INR (S j) / n) (h t))); [|exact IH]. unfold tangent. apply measurable_scale.
  replace (fun t => 1 + b * (h t / (INR (S j) / n) - 1)) with (fun t => (b / (INR (S j) / n)) * h t + (1 - b)) by (extensionality t; unfold Rdiv; ring).
  apply (measurable_plus noise (fun t => b / (INR (S j) / n) * h t)); [now apply measurable_scale | apply measurable_const].
Qed.

Lemma bell_le_1 t : bell t <= 1.
Proof. unfold bell. rewrite <- exp_0. apply exp_le. nra. Qed.

Lemma power_test h : test noise h -> test noise (fun t => pw b (h t)).
Proof.
  intros [H B]. assert (forall t, 0 <= pw b (h t) <= 1) as Hp by (intro t; split; [apply pw_nonneg | apply pw_le_1; [lra | apply B]]).
  split; [split|exact Hp]; [exists 1; intro t; rewrite Rabs_pos_eq; apply Hp|].
  intros u v. set (f := fun (n : nat) (t : R) => lowest (INR (S n)) (S n) (h t) * bell t).
  destruct (filterlim_RInt (V := R_CompleteNormedModule) f u v eventually _ (fun t => pw b (h t) * bell t) (fun n => RInt (f n) u v)) as [I [_ HI]].
  - intro n. apply (RInt_correct (V := R_CompleteNormedModule) (f n)). apply (lowest_measurable (INR (S n)) (S n) h H).
  - intros P [eps HP]. destruct (nfloor_ex (exp (- ln eps / b)) ltac:(left; apply exp_pos)) as [N [_ HN]].
    exists N. intros n Hn. apply HP. intro t. change (Rabs (f n t - pw b (h t) * bell t) < eps). unfold f.
    pose proof (lowest_above (INR (S n)) (S n) (h t) ltac:(apply lt_0_INR; lia) (B t)).
    pose proof (lowest_near (S n) (h t) ltac:(lia) (B t)). pose proof (bell_pos t). pose proof (bell_le_1 t).
    replace (lowest (INR (S n)) (S n) (h t) * bell t - pw b (h t) * bell t) with ((lowest (INR (S n)) (S n) (h t) - pw b (h t)) * bell t) by ring.
    rewrite Rabs_pos_eq by (apply Rmult_le_pos; lra).
    assert (exp (- b * ln (INR (S n))) < eps) as E.
    { rewrite <- (exp_ln eps) by apply cond_pos. apply exp_increasing.
      assert (- ln eps / b < ln (INR (S n))) as L.
      { rewrite <- (ln_exp (- ln eps / b)). apply ln_increasing; [apply exp_pos|]. apply le_INR in Hn. rewrite S_INR. lra. }
      apply (Rmult_lt_compat_l b) in L; [|lra]. replace (b * (- ln eps / b)) with (- ln eps) in L by (field; lra). lra. }
    nra.
  - exists I. exact HI.
Qed.
End Power.

Section Divergence.
Variables (a m : R).
Hypothesis a_large : 1 < a.
Let b := Renyi.b a.
Let k := (a - 1) * (a * (m * m / 2)).

(* Young's inequality at each outcome. *)
Lemma young t y H : 0 <= y -> 0 < H ->
  pw b y * bell (t - m) <= exp (k / a) * exp (b * ln H) * (/ a * bell (t - a * m) + b * (/ H * (y * bell t))).
Proof.
  intros Hy HH. pose proof (b_bounds a a_large) as Hb. fold b in Hb. pose proof (b_inverse a a_large) as Hi. fold b in Hi.
  assert (0 < / a) by (apply Rinv_0_lt_compat; lra). assert (0 < / H) by now apply Rinv_0_lt_compat.
  assert (0 < exp (k / a) * exp (b * ln H)) by (apply Rmult_lt_0_compat; apply exp_pos).
  pose proof (bell_pos (t - a * m)). pose proof (bell_pos t). unfold pw. destruct (Rlt_dec 0 y) as [Hp|].
  2: { rewrite Rmult_0_l. apply Rmult_le_pos; [lra|]. apply Rplus_le_le_0_compat; [nra|]. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra | nra]. }
  set (u := - ((t - a * m) * (t - a * m) / 2)). set (v := - (t * t / 2) + ln y - ln H).
  pose proof (exp_convex (/ a) b u v ltac:(lra) ltac:(lra) Hi) as C.
  assert (exp v = / H * (y * bell t)) as Ev.
  { unfold v, Rminus. rewrite !exp_plus, (exp_Ropp (ln H)), !exp_ln by assumption. unfold bell. ring. }
  rewrite Ev in C. change (exp u) with (bell (t - a * m)) in C.
  assert (exp (b * ln y) * bell (t - m) = exp (k / a) * exp (b * ln H) * exp (/ a * u + b * v)) as ->.
  { unfold bell. rewrite <- !exp_plus. f_equal. unfold u, v, k. unfold b, Renyi.b. field. lra. }
  apply Rmult_le_compat_l; lra.
Qed.

Lemma moment_at h H : test noise (fun t => h (t + m)) -> test noise h -> 0 < H -> mean noise h <= H ->
  mean noise (fun t => pw b (h (t + m))) <= exp (k / a) * exp (b * ln H).
Proof.
  intros H1 H2 HH Hle. pose proof (b_bounds a a_large) as Hb. fold b in Hb. pose proof (b_inverse a a_large) as Hi. fold b in Hi.
  pose proof (power_test b Hb _ H1) as P1. pose proof (power_test b Hb _ H2) as P2. pose proof (half_pos gauss) as HL.
  set (s := exp (k / a) * exp (b * ln H)). assert (0 < s) as Hs by (apply Rmult_lt_0_compat; apply exp_pos).
  destruct (first_move gauss m (fun t => pw b (h t)) P1) as [S1 T1]. pose proof (first_integrable gauss m (fun t => pw b (h t)) P1) as I1.
  rewrite (mean_noise gauss), <- T1. cbn beta in *.
  assert (limited_by gauss 1 gauss) as L1 by (intro t; pose proof (height_pos gauss t); rewrite Rabs_pos_eq; lra).
  destruct (cells_move gauss gauss 1 (- (a * m)) (w_integrable gauss) L1) as [S3 T3]. rewrite weight_total in T3.
  pose proof (integrable_move gauss (- (a * m)) (w_integrable gauss)) as I3.
  pose proof (second_summable gauss h H2) as S2. assert (integrable (fun t => h t * gauss t)) as I2 by apply H2.
  assert (integrable (fun t => s * (/ a * gauss (t + - (a * m)) + b * (/ H * (h t * gauss t))))) as I4.
  { apply integrable_scale, integrable_plus; [now apply integrable_scale | apply integrable_scale, integrable_scale, I2]. }
  assert (cell (fun t => s * (/ a * gauss (t + - (a * m)) + b * (/ H * (h t * gauss t))))
    = fun z => s * (/ a * cell (fun t => gauss (t + - (a * m))) z + b * (/ H * cell (fun t => h t * gauss t) z))) as E.
  { extensionality z. unfold cell. rewrite integral_scale by (apply integrable_plus; [now apply integrable_scale | apply integrable_scale, integrable_scale, I2]).
    rewrite integral_plus, !integral_scale by first [assumption | now apply integrable_scale | apply integrable_scale, integrable_scale, I2]. reflexivity. }
  assert (sums (fun t => pw b (h t) * gauss (t - m)) <= s * (/ a * (2 * half_area gauss) + b * (/ H * sums (fun t => h t * gauss t)))) as G.
  { unfold sums. rewrite <- T3.
    apply Rle_trans with (total (cell (fun t => s * (/ a * gauss (t + - (a * m)) + b * (/ H * (h t * gauss t)))))).
    - apply total_le; [exact S1 | |].
      + rewrite E. apply summable_scale, summable_plus; [apply summable_scale, S3 | apply summable_scale, summable_scale, S2].
      + intro z. apply RInt_le; [apply IZR_le; lia | apply I1 | apply I4|]. intros t _. apply (young t (h t) H); [apply H2 | exact HH].
    - rewrite E, total_scale, total_plus, !total_scale by (apply summable_scale; [exact S3] || (apply summable_scale, summable_scale, S2)). lra. }
  rewrite (mean_noise gauss) in Hle. set (X := sums (fun t => h t * gauss t)) in *.
  assert (0 < / (2 * half_area gauss)) as HI by (apply Rinv_0_lt_compat; lra).
  apply (Rmult_le_compat_l (/ (2 * half_area gauss))) in G; [|lra]. eapply Rle_trans; [exact G|].
  replace (/ (2 * half_area gauss) * (s * (/ a * (2 * half_area gauss) + b * (/ H * X)))) with (s * (/ a + b * (/ H * (/ (2 * half_area gauss) * X))))
    by (field; lra).
  assert (/ H * (/ (2 * half_area gauss) * X) <= 1).
  { apply Rmult_le_reg_l with H; [assumption|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  assert (/ a + b * (/ H * (/ (2 * half_area gauss) * X)) <= 1) by nra. nra.
Qed.

Lemma moment_line h : test noise (fun t => h (t + m)) -> test noise h ->
  mean noise (fun t => pw b (h (t + m))) <= exp (k / a) * pw b (mean noise h).
Proof.
  intros H1 H2. pose proof (b_bounds a a_large) as Hb. fold b in Hb. pose proof (mean_bounds noise h H2) as M.
  unfold pw at 2. destruct (Rlt_dec 0 (mean noise h)) as [L|L]; [apply moment_at; auto; lra|].
  rewrite Rmult_0_r. destruct (Rle_dec (mean noise (fun t => pw b (h (t + m)))) 0) as [|N]; [assumption|]. exfalso.
  set (c := mean noise (fun t => pw b (h (t + m)))) in *. set (H := exp ((ln c - k / a - 1) / b)).
  pose proof (moment_at h H H1 H2 (exp_pos _) ltac:(pose proof (exp_pos ((ln c - k / a - 1) / b)); unfold H; lra)) as B. fold c in B.
  unfold H in B. rewrite ln_exp in B. replace (b * ((ln c - k / a - 1) / b)) with (ln c - k / a - 1) in B by (field; lra).
  rewrite <- exp_plus in B. replace (k / a + (ln c - k / a - 1)) with (ln c + -1) in B by ring. rewrite exp_plus, exp_ln in B by lra.
  assert (exp (-1) < 1) by (rewrite <- exp_0; apply exp_increasing; lra). nra.
Qed.
End Divergence.

Theorem gauss_moment a sigma s : 1 < a -> 0 < sigma -> forall Y P Q, moved_gaussian sigma s Y P Q ->
  moment_bounded a ((a - 1) * (a * (s * s / (2 * (sigma * sigma))))) Y P Q.
Proof.
  intros Ha Hs Y P Q [v u Hvu] f Pf Qf. pose proof (b_bounds a Ha) as Hb.
  assert (test noise (fun t => f (v + sigma * t))) as Tv by (destruct Pf as [M B]; split; [exact M | intro; apply B]).
  assert (test noise (fun t => f (u + sigma * t))) as Tu by (destruct Qf as [M B]; split; [exact M | intro; apply B]).
  split.
  - split; [exact (proj1 (power_test (b a) Hb _ Tv))|]. intro o. split; [apply pw_nonneg | apply pw_le_1; [lra | apply Pf]].
  - change (mean noise (fun t => pw (b a) (f (v + sigma * t))) <= exp ((a - 1) * (a * (s * s / (2 * (sigma * sigma)))) / a) * pw (b a) (mean noise (fun t => f (u + sigma * t)))).
    set (m := (v - u) / sigma). set (h := fun t => f (u + sigma * t)).
    assert ((fun t => f (v + sigma * t)) = (fun t => h (t + m))) as E by (extensionality t; unfold h, m; f_equal; field; lra).
    assert ((fun t => pw (b a) (f (v + sigma * t))) = (fun t => pw (b a) (h (t + m)))) as E' by (extensionality t; now rewrite (f_equal (fun g => g t) E)).
    rewrite E in Tv. rewrite E'. eapply Rle_trans; [apply (moment_line a m Ha h Tv Tu)|].
    apply Rmult_le_compat_r; [apply pw_nonneg|]. apply exp_le. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|].
    unfold m. replace ((v - u) / sigma * ((v - u) / sigma) / 2) with ((v - u) * (v - u) / (2 * (sigma * sigma))) by (field; lra).
    assert (0 < / (2 * (sigma * sigma))) by (apply Rinv_0_lt_compat; nra).
    apply Rmult_le_compat_r; [lra|]. rewrite <- (Rabs_pos_eq ((v - u) * (v - u))) by apply Rle_0_sqr. rewrite Rabs_mult. apply Rmult_le_compat; auto using Rabs_pos.
Qed.

(* Gaussian noise: the density in proportion to e^(-t^2/2). *)
From Coq Require Import Reals Lra Lia ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable Line Moves.
Open Scope R_scope.

Definition bell (t : R) : R := exp (- (t * t / 2)).

Lemma bell_pos t : 0 < bell t.
Proof. apply exp_pos. Qed.
Lemma bell_even t : bell (- t) = bell t.
Proof. unfold bell. f_equal. field. Qed.
Lemma bell_derive t : is_derive bell t (- (t * bell t)).
Proof. unfold bell. auto_derive; [exact Logic.I|]. change (t * t / 2) with (t * t * / 2). field. Qed.
Lemma bell_continuous t : continuous bell t.
Proof. apply (ex_derive_continuous (V := R_NormedModule)). eexists. apply bell_derive. Qed.

Lemma bell_integrable : integrable bell.
Proof. intros a b. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros. apply bell_continuous. Qed.

(* Beyond a > 0 the density is at most t/a times itself, whose integral is known. *)
Lemma moment_integral a b : is_RInt (fun t => t * bell t) a b (bell a - bell b).
Proof.
  replace (bell a - bell b) with (minus (- bell b) (- bell a)) by (unfold minus, plus, opp; simpl; ring).
  apply (is_RInt_derive (fun t => - bell t) (fun t => t * bell t)).
  - intros t _. replace (t * bell t) with (opp (- (t * bell t))) by (unfold opp; simpl; ring). apply (is_derive_opp bell), bell_derive.
  - intros t _. apply (continuous_mult (K := R_AbsRing) (fun t => t) bell); [apply continuous_id | apply bell_continuous].
Qed.

Lemma area_far a b : 0 < a -> a <= b -> area_of bell b - area_of bell a <= bell a / a.
Proof.
  intros Ha Hb. assert (area_of bell b - area_of bell a = RInt bell a b) as ->.
  { unfold area_of. pose proof (integral_split bell 0 a b bell_integrable) as E. rewrite E. set (u := RInt bell 0 a : R). set (v := RInt bell a b : R). change (u + v - u = v). ring. }
  apply Rmult_le_reg_l with a; [assumption|]. replace (a * (bell a / a)) with (bell a) by (field; lra).
  rewrite <- integral_scale by apply bell_integrable.
  apply Rle_trans with (RInt (fun t => t * bell t) a b).
  - apply RInt_le; [exact Hb | apply integrable_scale, bell_integrable | eexists; apply moment_integral |].
    intros t Ht. apply Rmult_le_compat_r; [left; apply bell_pos | lra].
  - rewrite (is_RInt_unique _ _ _ _ (moment_integral a b)). pose proof (bell_pos b). lra.
Qed.

Lemma area_bell_le a b : a <= b -> area_of bell a <= area_of bell b.
Proof.
  intro H. assert (0 <= RInt bell a b) by (apply integral_nonneg; [apply bell_integrable | intro; left; apply bell_pos | exact H]).
  unfold area_of. rewrite (integral_split bell 0 a b bell_integrable). set (u := RInt bell 0 a : R) in *. set (v := RInt bell a b : R) in *. change (u <= u + v). lra.
Qed.

Lemma bell_limit : is_lim_seq (fun n => area_of bell (INR n)) (real (Lim_seq (fun n => area_of bell (INR n)))).
Proof.
  apply Lim_seq_correct'. apply (ex_finite_lim_seq_incr _ (area_of bell 1 + bell 1 / 1)).
  - intro n. apply area_bell_le, le_INR. lia.
  - intro n. destruct (Rle_dec 1 (INR n)) as [L|L].
    + pose proof (area_far 1 (INR n) Rlt_0_1 L). lra.
    + pose proof (area_bell_le (INR n) 1 ltac:(lra)). pose proof (bell_pos 1). lra.
Qed.

Definition gauss : weight := {|
  height := bell; height_pos := bell_pos; height_even := bell_even; height_continuous := bell_continuous;
  half_area := real (Lim_seq (fun n => area_of bell (INR n))); area_limit := bell_limit |}.

Lemma half_area_far a : 0 < a -> half_area gauss <= area_of gauss a + gauss a / a.
Proof.
  intro Ha. apply (is_lim_seq_le_loc (fun n => area_of gauss (INR n)) (fun _ => area_of gauss a + gauss a / a) (half_area gauss) (area_of gauss a + gauss a / a)).
  - destruct (nfloor_ex a ltac:(lra)) as [N HN]. exists (S N). intros n Hn. apply le_INR in Hn. rewrite S_INR in Hn.
    pose proof (area_far a (INR n) Ha ltac:(lra)). simpl. lra.
  - apply area_limit.
  - apply is_lim_seq_const.
Qed.

(* A value with Gaussian noise of standard deviation sigma. *)
Definition gaussian (sigma value : R) : law R := noisy_value gauss sigma value.
Definition moved_gaussian (sigma sensitivity : R) : class := moved_value gauss sigma sensitivity.

(* The ratio of the densities is e^(m t - m^2/2). *)
Lemma bell_move m t : bell (t - m) = bell t * exp (m * t - m * m / 2).
Proof. unfold bell. rewrite <- exp_plus. f_equal. field. Qed.

Lemma gauss_threshold m x : 0 < m -> 0 < x -> threshold gauss m x (ln x / m + m / 2).
Proof.
  intros Hm Hx. assert (forall t, m * t - m * m / 2 - ln x = m * (t - (ln x / m + m / 2))) as E by (intro t; field; lra).
  split; intros t Ht; change (height gauss) with bell; rewrite bell_move, (Rmult_comm x); (apply Rmult_le_compat_l; [left; apply bell_pos|]);
    rewrite <- (exp_ln x Hx) at 1 || rewrite <- (exp_ln x Hx) at 2; specialize (E t).
  - destruct (Req_dec (ln x) (m * t - m * m / 2)) as [->|]; [lra|]. left. apply exp_increasing. nra.
  - destruct (Req_dec (ln x) (m * t - m * m / 2)) as [->|]; [lra|]. left. apply exp_increasing. nra.
Qed.

Lemma gauss_likelihood m x : 0 <= m -> 0 < x -> likelihood gauss m x.
Proof.
  intros Hm Hx. destruct (Req_dec m 0) as [->|].
  - right. destruct (Rle_dec x 1); [left | right]; intro t; rewrite Rminus_0_r; pose proof (height_pos gauss t); nra.
  - left. eexists. apply gauss_threshold; lra.
Qed.

(* The curve of Gaussian noise: the largest P(S) - x Q(S) of any event. *)
Definition gauss_curve (mu x : R) : R :=
  let c := ln x / mu + mu / 2 in tail gauss (c - mu) - x * tail gauss c.

Theorem gaussian_below mu sigma x : 0 < mu -> 0 < sigma -> 0 < x -> forall Y P Q, moved_gaussian sigma (mu * sigma) Y P Q ->
  forall f, test P f -> test Q f -> mean P f - x * mean Q f <= gauss_curve mu x.
Proof.
  intros Hm Hs Hx. apply moved_value_below; try lra.
  2: { intros m [H _]. now apply gauss_likelihood. }
  intros h H1 H2. apply threshold_value; auto; [lra|]. now apply gauss_threshold.
Qed.

(* Renyi divergences: they add up, and bound delta; and the one of the discrete Gaussian mechanism.

   P has a divergence of order a from Q of at most R if and only if, for all functions 0 <= h <= 1, with b = (a - 1)/a,
   E_P(h^b) <= e^((a - 1) R/a) E_Q(h)^b (Hoelder's inequality and its converse). This form composes at once. *)
From Coq Require Import Reals Lra Lia ZArith List Permutation FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Noise Theta.
Open Scope R_scope.

(* x^y for x >= 0 and y > 0 *)
Definition pw (y x : R) : R := if Rlt_dec 0 x then exp (y * ln x) else 0.

Lemma pw_nonneg y x : 0 <= pw y x.
Proof. unfold pw. destruct (Rlt_dec 0 x); [left; apply exp_pos | lra]. Qed.
Lemma pw_0 y x : x <= 0 -> pw y x = 0.
Proof. intro H. unfold pw. destruct (Rlt_dec 0 x); lra. Qed.
Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; now apply exp_increasing | lra]. Qed.
Lemma pw_le_1 y x : 0 <= y -> x <= 1 -> pw y x <= 1.
Proof.
  intros Hy Hx. unfold pw. destruct (Rlt_dec 0 x) as [H|H]; [|lra]. rewrite <- exp_0. apply exp_le.
  assert (ln x <= 0); [|nra]. rewrite <- ln_1. destruct Hx as [Hx| ->]; [left; now apply ln_increasing | lra].
Qed.

(* exp is convex. *)
Lemma exp_convex u v s t : 0 <= u -> 0 <= v -> u + v = 1 -> exp (u * s + v * t) <= u * exp s + v * exp t.
Proof.
  intros Hu Hv H. set (m := u * s + v * t). pose proof (exp_pos m).
  assert (forall r, exp m * (1 + (r - m)) <= exp r) as T.
  { intro r. replace (exp r) with (exp m * exp (r - m)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [lra | apply exp_ineq1_le]. }
  pose proof (Rmult_le_compat_l u _ _ Hu (T s)). pose proof (Rmult_le_compat_l v _ _ Hv (T t)).
  replace (exp m) with (u * (exp m * (1 + (s - m))) + v * (exp m * (1 + (t - m)))); [lra|].
  replace (u * (exp m * (1 + (s - m))) + v * (exp m * (1 + (t - m)))) with (exp m * ((u + v) + (u * s + v * t) - (u + v) * m)) by ring.
  rewrite H. unfold m. ring.
Qed.

Section Order.
Variable a : R.
Hypothesis a_large : 1 < a.
Definition b : R := (a - 1) / a.

Lemma b_bounds : 0 < b < 1.
Proof.
  unfold b. split; [apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]|].
  apply Rmult_lt_reg_r with a; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma b_inverse : / a + b = 1.
Proof. unfold b. field. lra. Qed.

(* Divergence at most R, in this order, where moment = (a - 1) R. *)
Definition moment_bounded (moment : R) : class := fun Y P Q =>
  forall h, test P h -> test Q h ->
  test P (fun o => pw b (h o)) /\ mean P (fun o => pw b (h o)) <= exp (moment / a) * pw b (mean Q h).

(* Adaptive composition: divergences of one order add up. *)
Definition moment_class (m : R) (C : class) : Prop := forall Y P Q, C Y P Q -> moment_bounded m Y P Q.

Theorem renyi_composition ms Cs : Forall (fun m => 0 <= m) ms -> Forall2 moment_class ms Cs ->
  forall s, spends Cs s -> forall f, decision s f ->
  mean_first s f <= exp (sum (fun m => m) ms / a) * pw b (mean_second s f).
Proof.
  intros Hm HC s. revert ms Cs Hm HC. induction s as [|Y P Q next IH]; intros ms Cs Hm HC Hs f Hf.
  - simpl in *. assert (0 <= sum (fun m => m) ms) as H0 by (apply sum_nonneg; now apply Forall_forall).
    assert (1 <= exp (sum (fun m => m) ms / a)) as H1.
    { rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra]. }
    assert (f tt <= pw b (f tt)) as H2.
    { unfold pw. destruct (Rlt_dec 0 (f tt)) as [Hp|]; [|lra]. rewrite <- (exp_ln (f tt)) at 1 by assumption. apply exp_le.
      assert (ln (f tt) <= 0) by (rewrite <- ln_1; destruct (proj2 Hf) as [L| ->]; [left; now apply ln_increasing | lra]).
      pose proof b_bounds. nra. }
    pose proof (pw_nonneg b (f tt)). nra.
  - destruct Hs as [C [rest [Hp [HPQ Hn]]]]. destruct (Forall2_permutation moment_class _ _ Hp _ HC) as [ms' [Hp' HC']].
    inversion HC' as [|m ? more ? Hmoment Hmore]; subst. rewrite (sum_permutation _ _ _ Hp'). simpl.
    assert (Forall (fun m => 0 <= m) (m :: more)) as Hall by (eapply Permutation_Forall; eassumption).
    inversion Hall as [|? ? M0 Hmore0]; subst. destruct Hf as [Hd [M1 [M2 M3]]].
    set (g := fun o => mean_first (next o) (fun t => f (existT _ o t))) in *.
    set (h := fun o => mean_second (next o) (fun t => f (existT _ o t))) in *.
    assert (forall o, 0 <= h o <= 1) as Hh by (intro o; apply mean_second_bounds, Hd).
    destruct (Hmoment Y P Q HPQ h (conj M2 Hh) (conj M3 Hh)) as [T1 T2].
    set (E := exp (sum (fun m => m) more / a)).
    assert (mean P g <= E * mean P (fun o => pw b (h o))) as G.
    { rewrite <- mean_scale by apply T1. apply mean_le; [exact M1 | apply measurable_scale, T1|].
      intro o. apply (IH o more rest Hmore0 Hmore (Hn o) _ (Hd o)). }
    change (mean P g <= exp ((m + sum (fun m => m) more) / a) * pw b (mean Q h)).
    replace ((m + sum (fun m => m) more) / a) with (sum (fun m => m) more / a + m / a) by (field; lra).
    rewrite exp_plus. fold E. assert (0 < E) by apply exp_pos. nra.
Qed.

(* delta from a divergence: e^((a - 1)(R - epsilon)) (1 - 1/a)^(a - 1)/a, where moment = (a - 1) R. *)
Definition delta_of (moment eps : R) : R := exp (moment - (a - 1) * eps + (a - 1) * ln b) / a.

Theorem delta_from_renyi moment eps p q : 0 <= q -> p <= exp (moment / a) * pw b q -> p - exp eps * q <= delta_of moment eps.
Proof.
  intros Hq H. pose proof b_bounds as Hb. pose proof b_inverse as Hi. pose proof (exp_pos eps).
  assert (0 < delta_of moment eps) as Hd by (apply Rmult_lt_0_compat; [apply exp_pos | apply Rinv_0_lt_compat; lra]).
  destruct (Rlt_dec 0 q) as [Hq'|].
  - unfold pw in H. destruct (Rlt_dec 0 q) as [|]; [|contradiction]. rewrite <- exp_plus in H.
    set (s := moment - (a - 1) * eps + (a - 1) * ln b) in *. set (t := eps + ln q - ln b).
    assert (moment / a + b * ln q = / a * s + b * t) as E.
    { unfold s, t. replace (/ a * (moment - (a - 1) * eps + (a - 1) * ln b)) with (moment / a - b * eps + b * ln b) by (unfold b; field; lra). ring. }
    rewrite E in H. pose proof (exp_convex (/ a) b s t ltac:(left; apply Rinv_0_lt_compat; lra) ltac:(lra) Hi) as C.
    assert (b * exp t = exp eps * q) as Et.
    { unfold t, Rminus. rewrite !exp_plus, exp_Ropp, !exp_ln by lra. field. lra. }
    unfold delta_of. fold s. unfold Rdiv. lra.
  - rewrite pw_0 in H by lra. nra.
Qed.
End Order.

(* rho-zCDP: the divergence of every order a is at most a rho. *)
Definition zcdp (rho : R) : class := fun Y P Q =>
  forall a, 1 < a -> moment_bounded a ((a - 1) * (a * rho)) Y P Q /\ moment_bounded a ((a - 1) * (a * rho)) Y Q P.

(* The discrete Gaussian mechanism, for all orders: s^2/(2 sigma^2) times the order (Canonne, Kamath, Steinke 2020). *)
Section DiscreteGaussian.
Variable rate : R.  (* 1/(2 sigma^2) *)
Hypothesis rate_pos : 0 < rate.
Variable a : R.
Hypothesis a_large : 1 < a.

Lemma log_mass v z : at_value true rate rate_pos v z = exp (- ln (mass_of_all true rate) - rate * IZR ((z - v) * (z - v))).
Proof.
  rewrite at_value_weight. unfold weight, exponent, Rminus. rewrite exp_plus, exp_Ropp, exp_ln by apply (mass_of_all_pos true rate rate_pos).
  f_equal. f_equal. ring.
Qed.

Theorem gaussian_moment shift Y P Q : moved true rate rate_pos shift Y P Q ->
  moment_bounded a ((a - 1) * (a * (rate * IZR (shift * shift)))) Y P Q.
Proof.
  intros [v w Hvw] h Ph Qh. pose proof a_large as Ha. pose proof (b_bounds a Ha) as Hb. pose proof (b_inverse a Ha) as Hi.
  destruct Ph as [_ Hh]. set (k := (a - 1) * (a * (rate * IZR (shift * shift)))).
  assert (forall z, 0 <= pw (b a) (h z) <= 1) as Hp by (intro z; split; [apply pw_nonneg | apply pw_le_1; [lra | apply Hh]]).
  split; [split; [|exact Hp]|].
  { apply (limited_shift (fun z => pw (b a) (h z))). now apply limited_test. }
  rewrite !(noisy_mean true rate rate_pos) by now apply limited_test. rewrite !mean_countable.
  set (p := at_value true rate rate_pos v). set (q := at_value true rate rate_pos w). set (H := total (fun z => q z * h z)).
  assert (forall z, 0 < p z) as P0 by (intro z; unfold p; rewrite log_mass; apply exp_pos).
  assert (forall z, 0 < q z) as Q0 by (intro z; unfold q; rewrite log_mass; apply exp_pos).
  pose proof (summable_mass q h (limited_test Hh)) as Sq. pose proof (summable_mass p _ (limited_test Hp)) as Sp.
  assert (0 <= H) as H0 by (apply total_nonneg; [exact Sq | intro z; specialize (Q0 z); specialize (Hh z); nra]).
  destruct (Rlt_dec 0 H) as [Hpos|Hneg].
  - (* Young's inequality at each outcome *)
    set (moved_mass := fun z => / mass_of_all true rate * bell rate (IZR w + a * IZR (v - w)) z).
    assert (summable moved_mass /\ total moved_mass <= 1) as [Sm Tm].
    { split; [now apply summable_scale, bell_summable|]. unfold moved_mass. rewrite total_scale.
      pose proof (mass_of_all_pos true rate rate_pos) as HM. apply Rmult_le_reg_l with (mass_of_all true rate); [exact HM|].
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. eapply Rle_trans; [apply (theta_largest_at_0 rate rate_pos)|].
      right. unfold theta, mass_of_all. f_equal. extensionality z. unfold bell, weight, exponent. rewrite mult_IZR. f_equal. ring. }
    set (scale := exp (k / a) * exp (b a * ln H)). assert (0 < scale) as Hs by (apply Rmult_lt_0_compat; apply exp_pos).
    assert (forall z, p z * pw (b a) (h z) <= scale * (/ a * moved_mass z + b a * (/ H * (q z * h z)))) as Young.
    { intro z. assert (0 <= moved_mass z) as Mz.
      { apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, (mass_of_all_pos true rate rate_pos) | left; apply bell_pos]. }
      assert (0 < / a) by (apply Rinv_0_lt_compat; lra). assert (0 < / H) by now apply Rinv_0_lt_compat.
      unfold pw. destruct (Rlt_dec 0 (h z)) as [Hz|Hz].
      2: { rewrite Rmult_0_r. specialize (Hh z). specialize (Q0 z). apply Rmult_le_pos; [lra|].
           apply Rplus_le_le_0_compat; [nra|]. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra | nra]. }
      set (N := ln (mass_of_all true rate)).
      set (lp := - N - rate * IZR ((z - v) * (z - v))). set (lq := - N - rate * IZR ((z - w) * (z - w))).
      set (s := a * lp + (1 - a) * lq - k). set (t := lq + ln (h z) - ln H).
      pose proof (exp_convex (/ a) (b a) s t ltac:(lra) ltac:(lra) Hi) as C.
      assert (/ a * s + b a * t = lp + b a * ln (h z) - (k / a + b a * ln H)) as E.
      { unfold s, t. replace (/ a * (a * lp + (1 - a) * lq - k)) with (lp - b a * lq - k / a) by (unfold b; field; lra). ring. }
      rewrite E in C. assert (exp t = / H * (q z * h z)) as Et.
      { unfold t, Rminus. rewrite !exp_plus, exp_Ropp, !exp_ln by assumption. unfold q. rewrite log_mass. fold N lq. ring. }
      assert (exp s <= moved_mass z) as Es.
      { unfold moved_mass, bell. rewrite <- (exp_ln (mass_of_all true rate)) at 1 by apply (mass_of_all_pos true rate rate_pos).
        fold N. rewrite <- exp_Ropp, <- exp_plus. apply exp_le. unfold s, lp, lq, k.
        assert (IZR ((v - w) * (v - w)) <= IZR (shift * shift)) as L by (apply IZR_le; nia).
        rewrite ?mult_IZR, ?minus_IZR in *. set (Z := IZR z). set (V := IZR v) in *. set (W := IZR w) in *. set (D := IZR shift) in *.
        assert (a * (- N - rate * ((Z - V) * (Z - V))) + (1 - a) * (- N - rate * ((Z - W) * (Z - W)))
                = - N - rate * ((Z - (W + a * (V - W))) * (Z - (W + a * (V - W)))) + (a - 1) * (a * (rate * ((V - W) * (V - W))))) as -> by ring.
        assert ((a - 1) * (a * (rate * ((V - W) * (V - W)))) <= (a - 1) * (a * (rate * (D * D)))); [|lra].
        apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
      assert (p z * exp (b a * ln (h z)) = scale * exp (lp + b a * ln (h z) - (k / a + b a * ln H))) as ->.
      { unfold p, scale. rewrite log_mass. fold N lp. rewrite <- !exp_plus. f_equal. ring. }
      apply Rmult_le_compat_l; [lra|]. rewrite Et in C. nra. }
    apply Rle_trans with (total (fun z => scale * (/ a * moved_mass z + b a * (/ H * (q z * h z))))).
    + apply total_le; [exact Sp | apply summable_scale, summable_plus; [apply summable_scale, Sm | apply summable_scale, summable_scale, Sq] | exact Young].
    + rewrite total_scale, total_plus, !total_scale by (apply summable_scale; [exact Sm || apply summable_scale, Sq]).
      fold H. rewrite Rinv_l, Rmult_1_r by lra. apply Rle_trans with (scale * 1).
      * apply Rmult_le_compat_l; [lra|]. assert (0 < / a) by (apply Rinv_0_lt_compat; lra). nra.
      * rewrite Rmult_1_r. unfold scale, pw. destruct (Rlt_dec 0 H); [lra | contradiction].
  - (* h is 0 everywhere *)
    assert (forall z, h z = 0) as Hz.
    { intro z. destruct (Req_dec (h z) 0) as [|N]; [assumption|]. exfalso. apply Hneg.
      destruct (total_points [z] (fun y => q y * h y)) as [S1 T1]. simpl in T1. specialize (Hh z). specialize (Q0 z).
      apply Rlt_le_trans with (q z * h z + 0); [nra|]. rewrite <- T1. apply total_le; [exact S1 | exact Sq|]. intro y.
      rewrite at_points_in by (constructor; [auto | constructor]). pose proof (mass_nonneg q y).
      destruct (in_dec Z.eq_dec y [z]); [lra|]. assert (0 <= h y) by (clear - Qh; destruct Qh as [_ B]; apply B). nra. }
    assert (total (fun z => p z * pw (b a) (h z)) = 0) as ->.
    { rewrite <- total_0. f_equal. extensionality z. rewrite Hz, pw_0; lra. }
    apply Rmult_le_pos; [left; apply exp_pos | apply pw_nonneg].
Qed.
End DiscreteGaussian.

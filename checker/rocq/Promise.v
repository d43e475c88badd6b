(* (epsilon, delta)-DP as a promise: which mechanisms keep one, and the worst pair that a promise allows. *)
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Sampling Basic Fixed Exponential Above Tops Noise NoiseTop.
Open Scope R_scope.

Lemma exp_ge_1 eps : 0 <= eps -> 1 <= exp eps.
Proof. intros [H| <-]; rewrite <- exp_0; [left; now apply exp_increasing | lra]. Qed.

(* Randomised response is (epsilon, 0)-DP. *)
Theorem response_approximate eps : 0 <= eps -> forall Y P Q, finite_pair (response eps) Y P Q -> approximate eps 0 Y P Q.
Proof.
  intros He Y P Q H. destruct H as [P Q HP HQ]. intros f [_ Hf] _. simpl. rewrite HP, HQ. simpl.
  pose proof (exp_ge_1 eps He). pose proof (truth_is_exp_lie eps) as E. pose proof (lie_pos eps).
  pose proof (Hf 0%nat). pose proof (Hf 1%nat). set (e := exp eps) in *. set (l := lie eps) in *. rewrite !E.
  assert (e * l * f 0%nat <= e * (e * l * f 0%nat)) by (assert (0 <= e * l * f 0%nat) by (apply Rmult_le_pos; nra); nra).
  assert (l * f 1%nat <= e * (e * l * f 1%nat)).
  { assert (0 <= l * f 1%nat) by nra. assert (1 <= e * e) by nra. replace (e * (e * l * f 1%nat)) with (e * e * (l * f 1%nat)) by ring. nra. }
  assert (l * f 0%nat <= e * (e * l * f 0%nat)).
  { assert (0 <= l * f 0%nat) by nra. assert (1 <= e * e) by nra. replace (e * (e * l * f 0%nat)) with (e * e * (l * f 0%nat)) by ring. nra. }
  assert (e * l * f 1%nat <= e * (e * l * f 1%nat)) by (assert (0 <= e * l * f 1%nat) by (apply Rmult_le_pos; nra); nra).
  lra.
Qed.

(* The discrete Laplace mechanism is (a s, 0)-DP: its noise changes by e^a at most from one integer to the next. *)
Theorem laplace_approximate a (a_pos : 0 < a) s : (0 <= s)%Z ->
  forall Y P Q, moved false a a_pos s Y P Q -> approximate (a * IZR s) 0 Y P Q.
Proof.
  intros Hs Y P Q H. destruct H as [v w Hvw].
  assert (forall v w, (Z.abs (v - w) <= s)%Z -> forall f, (forall z, 0 <= f z <= 1) ->
    mean (noisy false a a_pos v) f <= exp (a * IZR s) * mean (noisy false a a_pos w) f) as G.
  { clear. intros v w Hvw f Hf.
    rewrite !(noisy_mean false a a_pos) by now apply limited_test. rewrite !mean_countable, <- total_scale.
    apply total_le; [apply summable_mass, limited_test, Hf | apply summable_scale, summable_mass, limited_test, Hf |].
    intro z. rewrite !at_value_weight. pose proof (mass_of_all_pos false a a_pos) as HM. specialize (Hf z).
    assert (weight false a (z - v) <= exp (a * IZR s) * weight false a (z - w)) as W.
    { unfold weight, exponent. rewrite <- exp_plus.
      assert (- a * IZR (Z.abs (z - v)) <= a * IZR s + - a * IZR (Z.abs (z - w))) as L.
      { assert (IZR (Z.abs (z - w)) <= IZR s + IZR (Z.abs (z - v))) by (rewrite <- plus_IZR; apply IZR_le; lia). nra. }
      destruct L as [L|L]; [left; now apply exp_increasing | rewrite L; lra]. }
    assert (0 <= / mass_of_all false a * f z) by (apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat | lra]). nra. }
  intros f [_ Hf] _. split; rewrite Rplus_0_r; apply G; auto; lia.
Qed.

(* The worst pair (Kairouz, Oh, Viswanath 2015): with probability delta the data are told, else there is a randomised response. *)
Definition worst_pair (eps delta : R) : list (R * R) :=
  [(delta, 0); ((1 - delta) * truth eps, (1 - delta) * lie eps); ((1 - delta) * lie eps, (1 - delta) * truth eps); (0, delta)].

Theorem promise_bound eps delta x : 0 <= eps -> 0 <= delta <= 1 -> 0 < x ->
  bounds_tests (approximate eps delta) x (excess (worst_pair eps delta) x).
Proof.
  intros He Hd Hx Y P Q H f Pf Qf. destruct (H f Pf Qf) as [H1 _].
  destruct (H _ (test_not P f Pf) (test_not Q f Qf)) as [_ H2]. rewrite !mean_not in H2 by (apply Pf || apply Qf).
  pose proof (mean_bounds P f Pf). pose proof (mean_bounds Q f Qf). pose proof (exp_ge_1 eps He).
  pose proof (truth_is_exp_lie eps) as E. pose proof (truth_lie eps) as E1. pose proof (lie_pos eps) as Hl.
  unfold excess, worst_pair. simpl. set (a := mean P f) in *. set (b := mean Q f) in *. set (e := exp eps) in *. set (l := lie eps) in *.
  rewrite E in *. unfold pos. rewrite (Rmax_right 0 (delta - x * 0)) by lra.
  pose proof (Rmax_l 0 (0 - x * delta)). 
  assert ((1 - delta) * (e * l) - x * ((1 - delta) * l) = (1 - delta) * l * (e - x)) as -> by ring.
  assert ((1 - delta) * l - x * ((1 - delta) * (e * l)) = (1 - delta) * l * (1 - x * e)) as -> by ring.
  assert (0 <= (1 - delta) * l) as Hc by nra.
  destruct (Rle_dec e x) as [L1|L1].
  - pose proof (Rmax_l 0 ((1 - delta) * l * (e - x))). pose proof (Rmax_l 0 ((1 - delta) * l * (1 - x * e))). nra.
  - rewrite (Rmax_right 0 ((1 - delta) * l * (e - x))) by nra.
    destruct (Rle_dec 1 (x * e)) as [L2|L2].
    + pose proof (Rmax_l 0 ((1 - delta) * l * (1 - x * e))).
      enough (a - x * b <= delta + (1 - delta) * l * (e - x)) by lra.
      (* (e - x) of H2 and (x e - 1) of H1 *)
      assert ((e + 1) * l = 1) as Hl1 by lra.
      assert (1 < e) as He1 by nra.
      apply Rmult_le_reg_r with (e * e - 1); [nra|].
      replace ((delta + (1 - delta) * l * (e - x)) * (e * e - 1)) with (delta * (e * e - 1) + (1 - delta) * ((e + 1) * l) * ((e - x) * (e - 1))) by ring.
      rewrite Hl1.
      assert ((x * e - 1) * (a - e * b) <= (x * e - 1) * delta) by (apply Rmult_le_compat_l; lra).
      assert ((e - x) * (e * a - b) <= (e - x) * (e + delta - 1)) by (apply Rmult_le_compat_l; lra).
      nra.
    + rewrite (Rmax_right 0 ((1 - delta) * l * (1 - x * e))) by nra.
      replace (delta - x * 0 + ((1 - delta) * l * (e - x) + ((1 - delta) * l * (1 - x * e) + (Rmax 0 (0 - x * delta) + 0))))
        with (delta + (1 - delta) * ((e + 1) * l) * (1 - x) + Rmax 0 (0 - x * delta)) by ring.
      replace ((e + 1) * l) with 1 by lra.
      destruct (Rle_dec (1 - delta) b) as [L3|L3]; [nra|].
      assert (e * (a - x * b) <= e * (delta + (1 - delta) * 1 * (1 - x))); [|nra].
      assert ((1 - x * e) * b <= (1 - x * e) * (1 - delta)) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Section Computed.
Variable p : positive.

Definition promise_ends (e d : ends) : list (ends * ends) :=
  let rest := minus (whole p 1) d in
  let t := times p rest (truth_ends p e) in let l := times p rest (lie_ends p e) in
  [(d, whole p 0); (t, l); (l, t); (whole p 0, d)].

Theorem tops_promise e d eps delta : 0 <= eps -> 0 <= delta <= 1 -> holds p e eps -> holds p d delta ->
  tops p (finite_top p (promise_ends e d)) (approximate eps delta).
Proof.
  intros He Hd H1 H2 X x t HX Hx Ht Y P Q HC f Pf Qf.
  eapply Rle_trans; [apply (promise_bound eps delta x He Hd Hx Y P Q HC f Pf Qf)|].
  eapply (upper_end_ge p); [|exact Ht]. apply excess_ends_holds; [|exact HX].
  pose proof (minus_holds p _ _ _ _ (whole_holds p 1) H2) as M.
  assert (holds p (times p (minus (whole p 1) d) (truth_ends p e)) ((1 - delta) * truth eps)) as T
    by (apply times_holds; [exact M | now apply truth_ends_holds]).
  assert (holds p (times p (minus (whole p 1) d) (lie_ends p e)) ((1 - delta) * lie eps)) as L
    by (apply times_holds; [exact M | now apply lie_ends_holds]).
  unfold promise_ends, worst_pair. repeat (constructor; [split; simpl fst; simpl snd; first [assumption | apply (whole_holds p 0)]|]). constructor.
Qed.
End Computed.

(* A Gaussian sum over all integers is largest where its centre is an integer: sum e^(-c (z - t)^2) <= sum e^(-c z^2).

   With T(t) the sum, the rotation (x, y) -> (x + y, x - y) of the plane and Cauchy and Schwarz give T(t)^4 <= T(2t) T(0)^3.
   As T is bounded, (T(t)/T(0))^(4^k) is bounded for all k, so that T(t) <= T(0). *)
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Noise.
Open Scope R_scope.

Lemma sum_incl {A} (f : A -> R) l : forall m, NoDup l -> incl l m -> (forall a, 0 <= f a) -> sum f l <= sum f m.
Proof.
  induction l as [|a l IH]; intros m Hn Hi H0; simpl; [now apply sum_nonneg|]. inversion Hn; subst.
  destruct (in_split a m (Hi a (or_introl eq_refl))) as [m1 [m2 ->]].
  rewrite sum_app. simpl. enough (sum f l <= sum f (m1 ++ m2)) as E by (rewrite sum_app in E; lra).
  apply IH; auto. intros b Hb. specialize (Hi b (or_intror Hb)). apply in_app_iff in Hi. apply in_app_iff.
  destruct Hi as [Hi|[->|Hi]]; auto. contradiction.
Qed.

Lemma nodup_app {A} (l : list A) : forall m, NoDup l -> NoDup m -> (forall a, In a l -> ~ In a m) -> NoDup (l ++ m).
Proof.
  induction l as [|a l IH]; intros m H1 H2 H3; simpl; [assumption|]. inversion H1; subst. constructor.
  - rewrite in_app_iff. intros [?|?]; [contradiction | now apply (H3 a (or_introl eq_refl))].
  - apply IH; auto. intros b Hb. apply H3. now right.
Qed.

Lemma sum_product {A B} (f : A -> R) (g : B -> R) l m : sum (fun c => f (fst c) * g (snd c)) (list_prod l m) = sum f l * sum g m.
Proof.
  induction l as [|a l IH]; simpl; [ring|]. rewrite sum_app, sum_map, IH. simpl. rewrite sum_scale. ring.
Qed.

(* A sum of numbers >= 0 is at most what bounds all finite sums. *)
Lemma total_le_bound f r : summable f -> (forall z, 0 <= f z) -> (forall n, sum f (around n) <= r) -> total f <= r.
Proof.
  intros Hs H0 H. destruct (summable_halves f Hs) as [S1 S2].
  assert (forall (u : nat -> R) M, ex_series u -> (forall n, sum u (seq 0 (S n)) <= M) -> Series u <= M) as L.
  { intros u M Hu HM. apply Series_correct in Hu.
    apply (is_lim_seq_le (fun n => sum_n u n) (fun _ => M) (Series u) M); [|exact Hu | apply is_lim_seq_const].
    intro n. replace (sum_n u n) with (sum u (seq 0 (S n))); [apply HM|]. clear. induction n as [|n IH].
    - rewrite sum_O. simpl. lra.
    - rewrite sum_Sn, <- IH, (seq_S (S n)), sum_app. simpl. unfold plus. simpl. lra. }
  assert (forall n m, sum (right_half f) (seq 0 (S n)) + sum (left_half f) (seq 0 (S m)) <= r) as G.
  { intros n m. eapply Rle_trans; [|apply (H (max n (S m)))].
    apply Rle_trans with (sum f (map Z.of_nat (seq 0 (S n)) ++ map (fun k => - 1 - Z.of_nat k)%Z (seq 0 (S m)))); [rewrite sum_app, !sum_map; apply Rle_refl|].
    apply sum_incl; [| |exact H0].
    - apply nodup_app; try (apply FinFun.Injective_map_NoDup; [intros i j E; lia | apply seq_NoDup]).
      intros z Hz Hz'. apply in_map_iff in Hz, Hz'. destruct Hz as [i [Ei _]]. destruct Hz' as [j [Ej _]]. lia.
    - intros z Hz. apply around_spec. apply in_app_iff in Hz. destruct Hz as [Hz|Hz]; apply in_map_iff in Hz;
        destruct Hz as [i [Ei Hi]]; apply in_seq in Hi; lia. }
  unfold total. enough (Series (left_half f) <= r - Series (right_half f)) by lra. apply L; [exact S2|]. intro m.
  enough (Series (right_half f) <= r - sum (left_half f) (seq 0 (S m))) by lra. apply L; [exact S1|]. intro n. specialize (G n m). lra.
Qed.

Lemma partial_le_total f n : summable f -> (forall z, 0 <= f z) -> sum f (around n) <= total f.
Proof.
  intros Hs H0. destruct (total_points (around n) f) as [S1 T1]. rewrite <- T1. apply total_le; auto. intro z.
  rewrite at_points_in by apply around_nodup. specialize (H0 z). destruct (in_dec Z.eq_dec z (around n)); lra.
Qed.

Definition bell (c t : R) (z : Z) : R := exp (- c * ((IZR z - t) * (IZR z - t))).
Lemma bell_pos c t z : 0 < bell c t z.
Proof. apply exp_pos. Qed.

Section Theta.
Variable c : R.
Hypothesis c_pos : 0 < c.

Lemma bell_bound d t z : 0 < d -> bell d t z <= exp (d * (t * t)) * weight true (d / 2) z.
Proof.
  intro Hd. unfold bell, weight, exponent. rewrite <- exp_plus, mult_IZR.
  assert (- d * ((IZR z - t) * (IZR z - t)) <= d * (t * t) + - (d / 2) * (IZR z * IZR z)) as L.
  { assert (0 <= d * ((IZR z - 2 * t) * (IZR z - 2 * t))) by (apply Rmult_le_pos; [lra | apply Rle_0_sqr]). nra. }
  destruct L as [L|L]; [left; now apply exp_increasing | rewrite L; lra].
Qed.
Lemma bell_summable d t : 0 < d -> summable (bell d t).
Proof.
  intro Hd. apply summable_le with (fun z => exp (d * (t * t)) * weight true (d / 2) z).
  - intro z. rewrite Rabs_pos_eq by (left; apply bell_pos). now apply bell_bound.
  - apply summable_scale. apply weight_summable. lra.
Qed.

Definition theta (t : R) : R := total (bell c t).
Lemma theta_pos t : 0 < theta t.
Proof.
  apply Rlt_le_trans with (sum (bell c t) (around 0)); [|apply partial_le_total; [now apply bell_summable | intro; left; apply bell_pos]].
  simpl. pose proof (bell_pos c t 0). lra.
Qed.
Lemma theta_period t (n : Z) : theta (t + IZR n) = theta t.
Proof.
  unfold theta. destruct (shift_total (bell c t) n (bell_summable c t c_pos)) as [_ T]. rewrite <- T. f_equal. extensionality z.
  unfold bell. rewrite minus_IZR. f_equal. ring.
Qed.

Definition bound : R := exp c * total (weight true (c / 2)).
Lemma theta_bound t : theta t <= bound.
Proof.
  destruct (archimed t) as [A1 A2]. replace t with (t - IZR (up t) + IZR (up t)) by ring. rewrite theta_period.
  set (u := t - IZR (up t)). assert (u * u <= 1) as Hu by (assert (-1 <= u < 0) by (unfold u; lra); nra).
  unfold theta, bound. rewrite <- total_scale. apply total_le; [now apply bell_summable | apply summable_scale, weight_summable; lra |].
  intro z. eapply Rle_trans; [now apply bell_bound|]. apply Rmult_le_compat_r; [left; apply exp_pos|].
  assert (c * (u * u) <= c) as L by nra. destruct L as [L|L]; [left; now apply exp_increasing | rewrite L; lra].
Qed.

(* The rotation: x + y is even, or odd. *)
Definition even_pair (m : Z * Z) : Z * Z := (fst m + snd m, fst m - snd m)%Z.
Definition odd_pair (m : Z * Z) : Z * Z := (fst m + snd m + 1, fst m - snd m)%Z.
Definition square_of (n : nat) : list (Z * Z) := list_prod (around n) (around n).
Definition both (s t : R) (m : Z * Z) : R := bell c s (fst m) * bell c t (snd m).
Definition rotated (s t : R) (m : Z * Z) : R := bell (2 * c) s (fst m) * bell (2 * c) t (snd m).

Lemma both_nonneg s t m : 0 <= both s t m.
Proof. left. apply Rmult_lt_0_compat; apply bell_pos. Qed.
Lemma even_worth s t m : both s t (even_pair m) = rotated ((s + t) / 2) ((s - t) / 2) m.
Proof.
  unfold both, rotated, bell, even_pair. simpl. rewrite plus_IZR, minus_IZR, <- !exp_plus. f_equal. field.
Qed.
Lemma odd_worth s t m : both s t (odd_pair m) = rotated ((s + t - 1) / 2) ((s - t - 1) / 2) m.
Proof.
  unfold both, rotated, bell, odd_pair. simpl. rewrite !plus_IZR, minus_IZR, <- !exp_plus. f_equal. field.
Qed.

Lemma in_square n x y : In (x, y) (square_of n) <-> (Z.abs x <= Z.of_nat n /\ Z.abs y <= Z.of_nat n)%Z.
Proof. unfold square_of. rewrite in_prod_iff, !around_spec. tauto. Qed.
Lemma square_nodup n : NoDup (square_of n).
Proof.
  assert (forall l m : list Z, NoDup l -> NoDup m -> NoDup (list_prod l m)) as G; [|apply G; apply around_nodup].
  intros l m Hl Hm. induction Hl as [|x l Hx _ IH]; simpl; [constructor|]. apply nodup_app; [|exact IH|].
  - apply FinFun.Injective_map_NoDup; [intros i j E; congruence | exact Hm].
  - intros z Hz Hz'. apply in_map_iff in Hz. destruct Hz as [y [<- _]]. apply in_prod_iff in Hz'. tauto.
Qed.

Definition turned (n : nat) : list (Z * Z) := map even_pair (square_of n) ++ map odd_pair (square_of n).

Lemma turned_sum s t n : sum (both s t) (turned n)
  = sum (bell (2 * c) ((s + t) / 2)) (around n) * sum (bell (2 * c) ((s - t) / 2)) (around n)
    + sum (bell (2 * c) ((s + t - 1) / 2)) (around n) * sum (bell (2 * c) ((s - t - 1) / 2)) (around n).
Proof.
  unfold turned. rewrite sum_app, !sum_map, (sum_ext _ _ _ (fun m _ => even_worth s t m)), (sum_ext _ _ _ (fun m _ => odd_worth s t m)).
  unfold rotated, square_of. now rewrite !(sum_product (bell _ _) (bell _ _)).
Qed.
Lemma square_sum s t n : sum (both s t) (square_of n) = sum (bell c s) (around n) * sum (bell c t) (around n).
Proof. unfold both, square_of. now rewrite (sum_product (bell _ _) (bell _ _)). Qed.

Lemma square_in_turned n : incl (square_of n) (turned (2 * n)).
Proof.
  intros [x y] H. apply in_square in H. unfold turned. apply in_app_iff. destruct (Z.Even_or_Odd (x + y)) as [[m E]|[m E]].
  - left. apply in_map_iff. exists (m, x - m)%Z. split; [unfold even_pair; simpl; f_equal; lia | apply in_square; lia].
  - right. apply in_map_iff. exists (m, x - m - 1)%Z. split; [unfold odd_pair; simpl; f_equal; lia | apply in_square; lia].
Qed.
Lemma turned_in_square n : incl (turned n) (square_of (2 * n + 1)).
Proof.
  intros [x y] H. apply in_square. unfold turned in H. apply in_app_iff in H. destruct H as [H|H]; apply in_map_iff in H;
    destruct H as [[i j] [E H]]; apply in_square in H; unfold even_pair, odd_pair in E; simpl in E; inversion E; lia.
Qed.
Lemma turned_nodup n : NoDup (turned n).
Proof.
  unfold turned. apply nodup_app; try (apply FinFun.Injective_map_NoDup; [|apply square_nodup]).
  - intros [i j] [k l] E. unfold even_pair in E. simpl in E. inversion E. f_equal; lia.
  - intros [i j] [k l] E. unfold odd_pair in E. simpl in E. inversion E. f_equal; lia.
  - intros z Hz Hz'. apply in_map_iff in Hz, Hz'. destruct Hz as [[i j] [Ei _]]. destruct Hz' as [[k l] [Ek _]].
    subst z. unfold even_pair, odd_pair in Ek. simpl in Ek. inversion Ek. lia.
Qed.

Lemma schwarz p q r s : (p * q + r * s) * (p * q + r * s) <= (p * p + r * r) * (q * q + s * s).
Proof. assert (0 <= (p * s - q * r) * (p * s - q * r)) by apply Rle_0_sqr. nra. Qed.

Lemma partial_nonneg d t n : 0 <= sum (bell d t) (around n).
Proof. apply sum_nonneg. intros. left. apply bell_pos. Qed.

Lemma fourth_power t n : sum (bell c t) (around n) ^ 4 <= theta (2 * t) * theta 0 ^ 3.
Proof.
  set (S := sum (bell c t) (around n)). pose proof (partial_nonneg c t n) as S0. fold S in S0.
  pose proof (sum_incl (both t t) _ _ (square_nodup n) (square_in_turned n) (both_nonneg t t)) as H.
  rewrite square_sum, turned_sum in H. fold S in H.
  set (p := sum (bell (2 * c) ((t + t) / 2)) (around (2 * n))) in *. set (q := sum (bell (2 * c) ((t - t) / 2)) (around (2 * n))) in *.
  set (r := sum (bell (2 * c) ((t + t - 1) / 2)) (around (2 * n))) in *. set (s := sum (bell (2 * c) ((t - t - 1) / 2)) (around (2 * n))) in *.
  assert (forall u n, sum (bell c u) (around n) <= theta u) as PT by (intros; apply partial_le_total; [now apply bell_summable | intro; left; apply bell_pos]).
  assert (forall u v, sum (both u v) (turned (2 * n)) <= theta u * theta v) as TT.
  { intros u v. eapply Rle_trans; [apply (sum_incl (both u v) _ _ (turned_nodup _) (turned_in_square _) (both_nonneg u v))|].
    rewrite square_sum. apply Rmult_le_compat; auto using partial_nonneg. }
  pose proof (TT (2 * t) 0) as A. pose proof (TT 0 0) as B. rewrite turned_sum in A, B.
  replace ((2 * t + 0) / 2) with ((t + t) / 2) in A by field. replace ((2 * t - 0) / 2) with ((t + t) / 2) in A by field.
  replace ((2 * t + 0 - 1) / 2) with ((t + t - 1) / 2) in A by field. replace ((2 * t - 0 - 1) / 2) with ((t + t - 1) / 2) in A by field.
  replace ((0 + 0) / 2) with ((t - t) / 2) in B by field. replace ((0 - 0) / 2) with ((t - t) / 2) in B by field.
  replace ((0 + 0 - 1) / 2) with ((t - t - 1) / 2) in B by field. replace ((0 - 0 - 1) / 2) with ((t - t - 1) / 2) in B by field.
  fold p r in A. fold q s in B. pose proof (schwarz p q r s) as W.
  assert (0 <= S * S) as S2 by nra.
  assert (S ^ 4 <= (p * q + r * s) * (p * q + r * s)) as H4 by (replace (S ^ 4) with (S * S * (S * S)) by ring; apply Rmult_le_compat; assumption).
  assert (0 <= q * q + s * s /\ 0 <= p * p + r * r) as [Q0 P0] by (split; nra).
  assert ((p * p + r * r) * (q * q + s * s) <= theta (2 * t) * theta 0 * (theta 0 * theta 0)) as H5 by (apply Rmult_le_compat; assumption).
  replace (theta (2 * t) * theta 0 ^ 3) with (theta (2 * t) * theta 0 * (theta 0 * theta 0)) by ring. lra.
Qed.

Lemma theta_fourth t : theta t ^ 4 <= theta (2 * t) * theta 0 ^ 3.
Proof.
  pose proof (theta_pos (2 * t)). pose proof (theta_pos 0). set (r4 := theta (2 * t) * theta 0 ^ 3).
  assert (0 < r4) as Hr by (apply Rmult_lt_0_compat; [assumption | now apply pow_lt]).
  set (r := exp (ln r4 / 4)). assert (r ^ 4 = r4) as E.
  { unfold r. simpl. rewrite Rmult_1_r, <- !exp_plus. transitivity (exp (ln r4)); [f_equal; field | now apply exp_ln]. }
  assert (0 < r) as Hr0 by apply exp_pos. assert (theta t <= r) as L.
  { apply total_le_bound; [now apply bell_summable | intro; left; apply bell_pos |]. intro n. apply Rnot_lt_le. intro L.
    pose proof (fourth_power t n) as F. fold r4 in F. set (S := sum (bell c t) (around n)) in *. rewrite <- E in F.
    assert (r * r < S * S) by nra. assert (r ^ 4 < S ^ 4) by (replace (r ^ 4) with (r * r * (r * r)) by ring; replace (S ^ 4) with (S * S * (S * S)) by ring; nra). lra. }
  rewrite <- E. apply pow_incr. pose proof (theta_pos t). lra.
Qed.

Theorem theta_largest_at_0 t : theta t <= theta 0.
Proof.
  set (level := fun t => ln (theta t) - ln (theta 0)).
  assert (forall t, level t <= level (2 * t) / 4) as Step.
  { intro u. pose proof (theta_pos u). pose proof (theta_pos (2 * u)). pose proof (theta_pos 0). pose proof (theta_fourth u) as F.
    assert (ln (theta u ^ 4) <= ln (theta (2 * u) * theta 0 ^ 3)) as L.
    { destruct F as [F| ->]; [left; apply ln_increasing; [now apply pow_lt | exact F] | lra]. }
    assert (forall y, 0 < y -> forall n, ln (y ^ n) = INR n * ln y) as P.
    { intros y Hy n. induction n as [|n IH]; [simpl; rewrite ln_1; ring|]. rewrite S_INR. simpl. rewrite ln_mult, IH by (auto; now apply pow_lt). ring. }
    rewrite ln_mult, !P in L by (auto; now apply pow_lt). simpl INR in L. unfold level. lra. }
  set (M := ln bound - ln (theta 0)).
  assert (forall u, level u <= M) as Bd.
  { intro u. unfold level, M. pose proof (theta_pos u). enough (ln (theta u) <= ln bound) by lra.
    destruct (theta_bound u) as [L| <-]; [left; now apply ln_increasing | lra]. }
  assert (forall k u, level u <= M / 4 ^ k) as Down.
  { induction k as [|k IH]; intro u; [simpl; specialize (Bd u); lra|].
    eapply Rle_trans; [apply Step|]. specialize (IH (2 * u)). simpl. assert (0 < 4 ^ k) by (apply pow_lt; lra).
    replace (M / (4 * 4 ^ k)) with (M / 4 ^ k / 4) by (field; lra). lra. }
  assert (level t <= 0) as L0.
  { apply Rnot_lt_le. intro L. assert (0 < M) by (specialize (Bd t); lra).
    destruct (archimed_cor1 (level t / M)) as [N [N1 N2]]; [now apply Rdiv_lt_0_compat|].
    specialize (Down N t). assert (INR N <= 4 ^ N) as P.
    { clear. induction N as [|N IH]; [simpl; lra|]. rewrite S_INR. simpl. assert (1 <= 4 ^ N) by (apply pow_R1_Rle; lra). lra. }
    assert (0 < INR N) by now apply lt_0_INR. assert (0 < 4 ^ N) by (apply pow_lt; lra).
    assert (M / 4 ^ N <= M * / INR N) by (apply Rmult_le_compat_l; [lra | now apply Rinv_le_contravar]).
    assert (M * / INR N < M * (level t / M)) by (apply Rmult_lt_compat_l; lra).
    replace (M * (level t / M)) with (level t) in * by (field; lra). lra. }
  unfold level in L0. pose proof (theta_pos t). pose proof (theta_pos 0). apply Rnot_lt_le. intro L. pose proof (ln_increasing _ _ H0 L). lra.
Qed.
End Theta.

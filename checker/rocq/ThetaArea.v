(* A Gaussian sum over the integers against the integral, from both sides.

   With T(t) the sum of e^(-c (z - t)^2) and W the integral of e^(-c t^2), W is the mean of T, and so W <= T(0). The rotation of the
   plane gives r(c) = T(1/2)/T(0) a quadratic rule, 1 - r(c) <= (1 - r(2c))^2, and T(0) + T(1/2) is the sum T(0) for c/4: so
   T(0) <= W e^(2 c^4). *)
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Line Moves.
From DP Require Normal NormalSum NormalTop.
From DP Require Import Noise Theta.
From DP Require Import Renyi.
Open Scope R_scope.

(* Partial sums of numbers >= 0 rise to the total. *)
Lemma around_limit f : summable f -> (forall z, 0 <= f z) -> is_lim_seq (fun n => sum f (around n)) (total f).
Proof.
  intros Hs H0. apply is_lim_seq_spec. intro e. destruct e as [e He]. simpl.
  assert (exists N, total f - e < sum f (around N)) as [N HN].
  { apply Classical_Pred_Type.not_all_not_ex. intro H. assert (total f <= total f - e); [|lra].
    apply total_le_bound; [exact Hs | exact H0|]. intro n. apply Rnot_lt_le, H. }
  exists N. intros n Hn. pose proof (partial_le_total f n Hs H0) as U.
  assert (sum f (around N) <= sum f (around n)) as L.
  { apply sum_incl; [apply around_nodup | | exact H0]. intros z Hz. apply around_spec in Hz. apply around_spec. lia. }
  rewrite Rabs_left1; lra.
Qed.

Lemma sum_total {A} (f : A -> Z -> R) l : (forall a, In a l -> summable (f a)) ->
  summable (fun z => sum (fun a => f a z) l) /\ total (fun z => sum (fun a => f a z) l) = sum (fun a => total (f a)) l.
Proof.
  induction l as [|a l IH]; intro H; simpl; [split; [apply summable_0 | apply total_0]|].
  destruct IH as [S T]; [intros b Hb; apply H; now right|]. pose proof (H a (or_introl eq_refl)) as Sa.
  split; [now apply (summable_plus (f a)) | now rewrite (total_plus (f a)), T].
Qed.

Section Area.
Variable c : R.
Hypothesis c_pos : 0 < c.

Lemma root_pos : 0 < sqrt (2 * c).
Proof. apply sqrt_lt_R0. lra. Qed.
Definition wave : Line.weight := NormalSum.scaled (sqrt (2 * c)) root_pos.
Definition width : R := 2 * half_area wave.

Lemma wave_at t : wave t = exp (- c * (t * t)).
Proof.
  change (Normal.bell (sqrt (2 * c) * t) = exp (- c * (t * t))). unfold Normal.bell. f_equal.
  replace (sqrt (2 * c) * t * (sqrt (2 * c) * t)) with (sqrt (2 * c) * sqrt (2 * c) * (t * t)) by ring.
  rewrite sqrt_sqrt by lra. field.
Qed.
Lemma wave_whole z : wave (IZR z) = bell c 0 z.
Proof. rewrite wave_at. unfold bell. now rewrite Rminus_0_r. Qed.
Lemma width_is : width = 2 * (half_area Normal.gauss / sqrt (2 * c)).
Proof. reflexivity. Qed.
Lemma width_pos : 0 < width.
Proof. unfold width. pose proof (half_area_pos wave). lra. Qed.

(* What is above a, and the area of a cell around an integer. *)
Definition above (a : R) : R := half_area wave - area_of wave a.
Lemma above_tail a : above a = width * tail Normal.gauss (sqrt (2 * c) * a).
Proof.
  unfold above, tail, width. change (area_of wave a) with (area_of (fun t => Normal.bell (sqrt (2 * c) * t)) a).
  rewrite (NormalSum.area_scaled _ root_pos). change (half_area wave) with (half_area Normal.gauss / sqrt (2 * c)).
  change (area_of Normal.bell (sqrt (2 * c) * a)) with (area_of Normal.gauss (sqrt (2 * c) * a)).
  pose proof root_pos. pose proof (half_area_pos Normal.gauss). field. lra.
Qed.

Definition middle (z : Z) : R := RInt wave (IZR z - / 2) (IZR z + / 2).

Lemma middle_at_least z : bell c 0 z <= exp (c / 4) * middle z.
Proof.
  rewrite <- wave_whole. set (v := IZR z). set (k := exp (- (c / 4)) * wave v).
  assert (is_RInt (fun t => k * (1 + 2 * c * v * v) + - (k * (2 * c * v)) * t) (v - / 2) (v + / 2) k) as I.
  { set (F := fun t => k * (1 + 2 * c * v * v) * t + - (k * (2 * c * v)) * (t * t / 2)).
    assert (minus (F (v + / 2)) (F (v - / 2)) = k) as E by (unfold minus, plus, opp, F; simpl; field).
    enough (is_RInt (fun t => k * (1 + 2 * c * v * v) + - (k * (2 * c * v)) * t) (v - / 2) (v + / 2) (minus (F (v + / 2)) (F (v - / 2)))) as D
      by (now rewrite E in D).
    apply (is_RInt_derive (V := R_CompleteNormedModule) F (fun t => k * (1 + 2 * c * v * v) + - (k * (2 * c * v)) * t)).
    - intros t _. unfold F. auto_derive; [exact Logic.I | field].
    - intros t _. apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact Logic.I. }
  assert (k <= middle z) as L.
  { unfold middle. fold v. rewrite <- (is_RInt_unique _ _ _ _ I). apply RInt_le; [lra | now exists k | apply w_integrable |].
    intros t Ht. rewrite wave_at. unfold k. rewrite wave_at. set (u := t - v).
    replace (- c * (t * t)) with (- (c / 4) + - c * (v * v) + (- (2 * c * v * u) + c * (/ 4 - u * u))) by (unfold u; field).
    rewrite !exp_plus.
    replace (exp (- (c / 4)) * exp (- c * (v * v)) * (1 + 2 * c * v * v) + - (exp (- (c / 4)) * exp (- c * (v * v)) * (2 * c * v)) * t)
      with (exp (- (c / 4)) * exp (- c * (v * v)) * (1 + - (2 * c * v * u))) by (unfold u; ring).
    pose proof (exp_pos (- (c / 4))). pose proof (exp_pos (- c * (v * v))).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
    pose proof (exp_ineq1_le (- (2 * c * v * u))). pose proof (exp_pos (- (2 * c * v * u))).
    assert (1 <= exp (c * (/ 4 - u * u))) as E1.
    { rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; [lra|]. assert (u * u <= / 4) by (unfold u; nra). lra. }
    nra. }
  replace (wave v) with (exp (c / 4) * k).
  - apply Rmult_le_compat_l; [left; apply exp_pos | exact L].
  - unfold k. rewrite <- Rmult_assoc, <- exp_plus. replace (c / 4 + - (c / 4)) with 0 by ring. rewrite exp_0. ring.
Qed.

(* Between two places at most 1 apart the area is hardly more than below the chord. *)
Lemma chord_area a b : a <= b <= a + 1 -> RInt wave a b <= exp (c / 4) * ((b - a) * (wave a + wave b) / 2).
Proof.
  intros [[L|E] H1].
  2: { subst b. rewrite (RInt_point (V := R_CompleteNormedModule)). unfold zero. simpl. right. field. }
  set (k := exp (c / 4)). set (p := k * wave a). set (q := k * wave b).
  set (g := fun t => p * ((b - t) / (b - a)) + q * ((t - a) / (b - a))).
  assert (is_RInt g a b ((b - a) * (p + q) / 2)) as I.
  { set (F := fun t => p * (- ((b - t) * (b - t) / (2 * (b - a)))) + q * ((t - a) * (t - a) / (2 * (b - a)))).
    replace ((b - a) * (p + q) / 2) with (minus (F b) (F a)) by (unfold minus, plus, opp, F; simpl; field; lra).
    apply (is_RInt_derive F g).
    - intros t _. unfold F, g. auto_derive; [exact Logic.I | field; lra].
    - intros t _. apply (ex_derive_continuous (V := R_NormedModule)). unfold g. auto_derive. exact Logic.I. }
  replace (k * ((b - a) * (wave a + wave b) / 2)) with ((b - a) * (p + q) / 2) by (unfold p, q; field).
  rewrite <- (is_RInt_unique _ _ _ _ I). apply RInt_le; [lra | apply w_integrable | eexists; exact I |].
  intros t Ht. unfold g, p, q. rewrite !wave_at. set (u := (b - t) / (b - a)). set (v := (t - a) / (b - a)).
  assert (0 < / (b - a)) as Hi by (apply Rinv_0_lt_compat; lra).
  assert (0 <= u) as Hu by (apply Rmult_le_pos; lra). assert (0 <= v) as Hv by (apply Rmult_le_pos; lra).
  assert (u + v = 1) as Huv by (unfold u, v; field; lra).
  pose proof (exp_convex u v (- c * (a * a)) (- c * (b * b)) Hu Hv Huv) as X.
  assert (- c * (t * t) <= c / 4 + (u * (- c * (a * a)) + v * (- c * (b * b)))) as E.
  { assert (t = u * a + v * b) as Et by (unfold u, v; field; lra). rewrite Et. replace v with (1 - u) by lra.
    replace (- c * ((u * a + (1 - u) * b) * (u * a + (1 - u) * b)))
      with (u * (- c * (a * a)) + (1 - u) * (- c * (b * b)) + c * (u * (1 - u) * ((b - a) * (b - a)))) by ring.
    pose proof (Rle_0_sqr (u - / 2)) as Q. unfold Rsqr in Q.
    assert (0 <= u * (1 - u) <= / 4) as U by (split; [apply Rmult_le_pos; lra | nra]). assert (0 <= (b - a) * (b - a) <= 1) as D by (split; nra).
    assert (u * (1 - u) * ((b - a) * (b - a)) <= / 4 * 1) by (apply Rmult_le_compat; lra). nra. }
  apply exp_le in E. rewrite exp_plus in E. fold k in E. pose proof (exp_pos (c / 4)). fold k in H. nra.
Qed.

(* The sum from an integer on. *)
Definition from (m : Z) (z : Z) : R := if (m <=? z)%Z then 1 else 0.
Definition later (m : Z) : R := total (fun z => bell c 0 z * from m z).

Lemma later_summable m : summable (fun z => bell c 0 z * from m z).
Proof.
  apply summable_le with (bell c 0); [|now apply bell_summable]. intro z. pose proof (bell_pos c 0 z).
  unfold from. destruct (m <=? z)%Z; rewrite Rabs_pos_eq; lra.
Qed.

Lemma middle_half_line m z : RInt (fun t => (fun t => half_line (IZR m - / 2) t * wave t) (t + - / 2)) (IZR z) (IZR (z + 1)) = middle z * from m z.
Proof.
  eapply eq_trans; [apply (integral_move (fun t => half_line (IZR m - / 2) t * wave t)), half_line_integrable|]. match goal with |- @eq _ ?u ?v => change (@eq R u v) end.
  replace (IZR z + - / 2) with (IZR z - / 2) by ring. replace (IZR (z + 1) + - / 2) with (IZR z + / 2) by (rewrite plus_IZR; field).
  rewrite (is_RInt_unique _ _ _ _ (half_line_integral wave (IZR m - / 2) (IZR z - / 2) (IZR z + / 2) ltac:(lra))).
  unfold middle, from. rewrite (area_between wave). destruct (Z.leb_spec m z) as [L|L].
  - apply IZR_le in L. rewrite !Rmax_right by lra. ring.
  - assert (IZR z + 1 <= IZR m) by (rewrite <- plus_IZR; apply IZR_le; lia). rewrite !Rmax_left by lra. ring.
Qed.

Lemma middle_later m : summable (fun z => middle z * from m z) /\ total (fun z => middle z * from m z) = above (IZR m - / 2).
Proof.
  destruct (cells_move wave (fun t => half_line (IZR m - / 2) t * wave t) 1 (- / 2) (half_line_integrable wave _)
    (test_product wave _ (half_line_bounds _))) as [S T].
  assert (cell (fun t => (fun t => half_line (IZR m - / 2) t * wave t) (t + - / 2)) = (fun z => middle z * from m z)) as E
    by (extensionality z; apply middle_half_line).
  cbn beta in *. rewrite E in *. split; [exact S|]. rewrite T. apply half_line_total.
Qed.

Theorem later_below m : later m <= exp (c / 4) * above (IZR m - / 2).
Proof.
  destruct (middle_later m) as [S T]. rewrite <- T, <- total_scale. apply total_le; [apply later_summable | now apply summable_scale|].
  intro z. pose proof (middle_at_least z). unfold from. destruct (m <=? z)%Z; lra.
Qed.

Lemma middle_all : summable middle /\ total middle = width.
Proof.
  assert (limited_by wave 1 wave) as L by (intro t; pose proof (height_pos wave t); rewrite Rabs_pos_eq; lra).
  destruct (cells_move wave wave 1 (- / 2) (w_integrable wave) L) as [S T].
  assert (cell (fun t => wave (t + - / 2)) = middle) as E.
  { extensionality z. unfold cell, middle. rewrite (integral_move wave) by apply w_integrable. f_equal. rewrite plus_IZR. field. }
  cbn beta in *. rewrite E in *. split; [exact S|]. rewrite T. apply weight_total.
Qed.

Lemma theta_below_first : theta c 0 <= exp (c / 4) * width.
Proof.
  destruct middle_all as [S T]. rewrite <- T, <- total_scale. apply total_le; [now apply bell_summable | now apply summable_scale|].
  intro z. apply middle_at_least.
Qed.

(* The integral is the mean of all sums, of which the one at 0 is the largest. *)
Theorem width_below : width <= theta c 0.
Proof.
  unfold width. rewrite <- weight_total. apply total_le_bound.
  - apply (weight_cells wave).
  - intro z. apply integral_nonneg; [apply w_integrable | intro; left; apply height_pos | apply IZR_le; lia].
  - intro n.
    assert (forall l, integrable (fun t => sum (fun z => wave (t + IZR z)) l) /\ sum (cell wave) l = RInt (fun t => sum (fun z => wave (t + IZR z)) l) 0 1) as G.
    { induction l as [|z l [I E]]; cbn [sum].
      - split; [intros a b; apply (ex_RInt_const (V := R_NormedModule)) | now rewrite NormalTop.unit_integral].
      - assert (integrable (fun t => wave (t + IZR z))) as Iz by (apply integrable_move, w_integrable).
        split; [now apply integrable_plus|]. rewrite integral_plus, E, integral_move by (assumption || apply w_integrable).
        unfold cell. rewrite plus_IZR. f_equal. f_equal; ring. }
    destruct (G (around n)) as [I ->]. rewrite <- (NormalTop.unit_integral (theta c 0)).
    apply RInt_le; [lra | apply I | apply (ex_RInt_const (V := R_NormedModule)) |]. intros t _.
    apply Rle_trans with (theta c (- t)); [|now apply theta_largest_at_0].
    apply Rle_trans with (sum (bell c (- t)) (around n)).
    + right. apply sum_ext. intros z _. rewrite wave_at. unfold bell. f_equal. ring.
    + apply partial_le_total; [now apply bell_summable | intro; left; apply bell_pos].
Qed.

(* From below, for the sum from an integer on. *)
Theorem later_above m : exp (- (c / 4)) * above (IZR m - / 2) <= later m + (wave (IZR m - / 2) - bell c 0 m) / 4.
Proof.
  set (k := exp (c / 4)). assert (0 < k) as Hk by apply exp_pos.
  assert (above (IZR m - / 2) <= k * (later m + (wave (IZR m - / 2) - bell c 0 m) / 4)) as B.
  2: { apply (Rmult_le_compat_l (exp (- (c / 4)))) in B; [|left; apply exp_pos]. rewrite <- Rmult_assoc in B. unfold k in B.
       rewrite <- exp_plus in B. replace (- (c / 4) + c / 4) with 0 in B by ring. rewrite exp_0, Rmult_1_l in B. exact B. }
  assert (above (IZR m) <= k * (later m - bell c 0 m / 2)) as A.
  { assert (total (cell (fun t => half_line (IZR m) t * wave t)) = above (IZR m)) as <- by apply half_line_total.
    set (g := fun z => / 2 * (bell c 0 z * from m z) + / 2 * ((bell c 0 (z + 1) * from m (z + 1)) + -1 * (if (z =? m - 1)%Z then bell c 0 m else 0))).
    pose proof (later_summable m) as S. pose proof (summable_next _ S) as Sn. destruct (total_point (m - 1) (bell c 0 m)) as [Sp Tp].
    assert (summable g) as Sg by (apply summable_plus; apply summable_scale; [exact S | apply summable_plus; [exact Sn | now apply summable_scale]]).
    assert (total g = later m - bell c 0 m / 2) as <-.
    { unfold g. rewrite total_plus, !total_scale, total_plus, total_scale, Tp by (repeat first [assumption | apply summable_scale | apply summable_plus]).
      rewrite (total_next _ S). unfold later. field. }
    rewrite <- total_scale. apply total_le; [apply (cells_summable wave _ 1); [apply half_line_integrable | apply test_product, half_line_bounds] | now apply summable_scale|].
    intro z. unfold cell. rewrite (is_RInt_unique _ _ _ _ (half_line_integral wave (IZR m) (IZR z) (IZR (z + 1)) ltac:(apply IZR_le; lia))).
    unfold g, from. destruct (Z.leb_spec m z) as [L|L].
    - destruct (Z.leb_spec m (z + 1)); [|lia]. destruct (Z.eqb_spec z (m - 1)); [lia|].
      apply IZR_le in L. rewrite !Rmax_right by (try lra; rewrite plus_IZR; lra). rewrite <- (area_between wave).
      pose proof (chord_area (IZR z) (IZR (z + 1)) ltac:(rewrite plus_IZR; lra)) as Ch. rewrite !wave_whole in Ch. rewrite plus_IZR in Ch at 2.
      fold k in Ch. lra.
    - assert (IZR (z + 1) <= IZR m) by (apply IZR_le; lia). assert (IZR z <= IZR m) by (apply IZR_le; lia). rewrite !Rmax_left by lra.
      destruct (Z.leb_spec m (z + 1)) as [M|M], (Z.eqb_spec z (m - 1)) as [E|E]; try lia.
      + subst z. replace (m - 1 + 1)%Z with m by lia. lra.
      + lra. }
  assert (above (IZR m - / 2) = above (IZR m) + RInt wave (IZR m - / 2) (IZR m)) as -> by (unfold above; rewrite (area_between wave); ring).
  pose proof (chord_area (IZR m - / 2) (IZR m) ltac:(lra)) as Ch. rewrite wave_whole in Ch. fold k in Ch. lra.
Qed.
End Area.

(* Laws on the real line with a density in proportion to a weight that is even, positive and continuous.

   A test is a bounded function whose product with the weight has a Riemann integral between any two
   numbers. Its mean is the sum of its integrals over the cells between neighbouring integers. *)
From Coq Require Import Reals Lra Lia ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable.
Open Scope R_scope.

Definition integrable (g : R -> R) : Prop := forall a b, ex_RInt g a b.
Definition cell (g : R -> R) (z : Z) : R := RInt g (IZR z) (IZR (z + 1)).

Lemma integrable_plus f g : integrable f -> integrable g -> integrable (fun t => f t + g t).
Proof. intros F G a b. apply (ex_RInt_plus (V := R_NormedModule) f g); auto. Qed.
Lemma integrable_scale c f : integrable f -> integrable (fun t => c * f t).
Proof. intros F a b. apply (ex_RInt_scal (V := R_NormedModule) f a b c); auto. Qed.
Lemma integrable_ext f g : (forall t, f t = g t) -> integrable f -> integrable g.
Proof. intros H F a b. apply (ex_RInt_ext f); auto. Qed.
Lemma integrable_abs f : integrable f -> integrable (fun t => Rabs (f t)).
Proof. intros F a b. apply (ex_RInt_norm f a b), F. Qed.
Lemma integrable_move f m : integrable f -> integrable (fun t => f (t + m)).
Proof.
  intros F a b. apply (ex_RInt_ext (fun t => scal 1 (f (1 * t + m)))).
  - intros t _. unfold scal. simpl. unfold mult. simpl. rewrite Rmult_1_l. f_equal. ring.
  - apply (ex_RInt_comp_lin (V := R_NormedModule) f 1 m), F.
Qed.
Lemma integrable_mirror f : integrable f -> integrable (fun t => f (- t)).
Proof.
  intros F a b. apply (ex_RInt_ext (fun t => scal (-1) (scal (-1) (f (-1 * t + 0))))).
  - intros t _. unfold scal. simpl. unfold mult. simpl. replace (-1 * t + 0) with (- t) by ring. ring.
  - apply (ex_RInt_scal (V := R_NormedModule)). apply (ex_RInt_comp_lin (V := R_NormedModule) f (-1) 0), F.
Qed.

Lemma integral_move f m a b : integrable f -> RInt (fun t => f (t + m)) a b = RInt f (a + m) (b + m).
Proof.
  intro F. replace (a + m) with (1 * a + m) by ring. replace (b + m) with (1 * b + m) by ring.
  rewrite <- (RInt_comp_lin f 1 m a b) by apply F. apply RInt_ext. intros t _.
  unfold scal. simpl. unfold mult. simpl. rewrite Rmult_1_l. f_equal. ring.
Qed.
Lemma integral_mirror f a b : integrable f -> RInt (fun t => f (- t)) a b = RInt f (- b) (- a).
Proof.
  intro F. rewrite <- (opp_RInt_swap f (-a) (-b)) by apply F. replace (-a) with (-1 * a + 0) by ring. replace (-b) with (-1 * b + 0) by ring.
  rewrite <- (RInt_comp_lin f (-1) 0 a b) by apply F.
  rewrite <- (RInt_opp (V := R_CompleteNormedModule)).
  - apply RInt_ext. intros t _. unfold opp, scal. simpl. unfold mult. simpl. replace (-1 * t + 0) with (- t) by ring. ring.
  - apply (ex_RInt_comp_lin (V := R_NormedModule) f (-1) 0), F.
Qed.
Lemma integral_split f a b c : integrable f -> RInt f a c = RInt f a b + RInt f b c.
Proof. intro F. symmetry. apply (RInt_Chasles f a b c); apply F. Qed.
Lemma integral_plus f g a b : integrable f -> integrable g -> RInt (fun t => f t + g t) a b = RInt f a b + RInt g a b.
Proof. intros F G. apply (RInt_plus f g a b); [apply F | apply G]. Qed.
Lemma integral_scale c f a b : integrable f -> RInt (fun t => c * f t) a b = c * RInt f a b.
Proof. intro F. apply (RInt_scal f a b c (F a b)). Qed.
Lemma integral_abs f g a b : integrable f -> integrable g -> (forall t, Rabs (f t) <= g t) -> a <= b ->
  Rabs (RInt f a b) <= RInt g a b.
Proof.
  intros F G H L. eapply Rle_trans; [apply abs_RInt_le; [exact L | apply F]|].
  apply RInt_le; [exact L | apply integrable_abs, F | apply G | intros; apply H].
Qed.
Lemma integral_nonneg f a b : integrable f -> (forall t, 0 <= f t) -> a <= b -> 0 <= RInt f a b.
Proof.
  intros F H L. pose proof (integral_abs f f a b F F (fun t => Req_le _ _ (Rabs_pos_eq _ (H t))) L).
  pose proof (Rabs_pos (RInt f a b)). lra.
Qed.

(* The area under g between 0 and c. *)
Definition area_of (g : R -> R) (c : R) : R := RInt g 0 c.

Record weight := Weight {
  height :> R -> R;
  height_pos : forall t, 0 < height t;
  height_even : forall t, height (- t) = height t;
  height_continuous : forall t, continuous height t;
  half_area : R;  (* the area from 0 on *)
  area_limit : is_lim_seq (fun n => area_of height (INR n)) half_area }.

Section Line.
Variable w : weight.
Local Notation area := (area_of w).
Local Notation w_pos := (height_pos w).
Local Notation half_area := (half_area w).

Lemma w_integrable : integrable w.
Proof. intros a b. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros. apply height_continuous. Qed.

Lemma area_between a b : RInt w a b = area b - area a.
Proof. unfold area_of. pose proof (integral_split w 0 a b w_integrable) as E. set (x := RInt w 0 b : R) in *. set (y := RInt w 0 a : R) in *. set (z := RInt w a b : R) in *. lra. Qed.
Lemma area_le a b : a <= b -> area a <= area b.
Proof.
  intro H. enough (0 <= RInt w a b) by (rewrite area_between in *; lra).
  apply integral_nonneg; [exact w_integrable | intro; left; apply w_pos | exact H].
Qed.
Lemma area_0 : area 0 = 0.
Proof. apply (RInt_point (V := R_CompleteNormedModule) 0 w). Qed.
Lemma area_odd c : area (- c) = - area c.
Proof.
  unfold area_of. assert (RInt w 0 c = RInt (fun t => w (- t)) 0 c) as -> by (apply RInt_ext; intros; now rewrite (height_even w)).
  rewrite (integral_mirror w 0 c w_integrable), Ropp_0. symmetry. apply (opp_RInt_swap w). apply w_integrable.
Qed.
Lemma area_below c : area c <= half_area.
Proof.
  apply (is_lim_seq_le_loc (fun _ => area c) (fun n => area (INR n)) (area c) half_area).
  - destruct (nfloor_ex (Rmax 0 c) (Rmax_l _ _)) as [n Hn]. exists (S n). intros k Hk. apply area_le.
    apply le_INR in Hk. rewrite S_INR in Hk. pose proof (Rmax_r 0 c). lra.
  - apply is_lim_seq_const.
  - exact (area_limit w).
Qed.
Lemma half_area_pos : 0 < half_area.
Proof.
  apply Rlt_le_trans with (area 1); [|apply area_below]. unfold area_of.
  apply RInt_gt_0; [lra | intros; apply w_pos | intros; apply (height_continuous w)].
Qed.

(* Integrals over all cells. *)
Lemma cell_weight z : cell w z = area (IZR (z + 1)) - area (IZR z).
Proof. apply area_between. Qed.

Lemma weight_cells : summable (cell w).
Proof.
  assert (forall a : nat -> R, (forall n, sum_n a n = area (INR (S n))) -> (forall n, 0 <= a n) -> ex_series (fun n => Rabs (a n))) as G.
  { intros a Ha H0. apply (ex_series_ext a); [intro n; now rewrite Rabs_pos_eq|]. exists half_area.
    change (is_lim_seq (sum_n a) half_area).
    apply (is_lim_seq_ext (fun n => area (INR (S n)))); [intro n; now rewrite Ha|].
    now apply (is_lim_seq_incr_1 (fun n => area (INR n))), area_limit. }
  assert (forall z, 0 <= cell w z) as H0.
  { intro z. rewrite cell_weight. pose proof (area_le (IZR z) (IZR (z + 1)) ltac:(apply IZR_le; lia)). lra. }
  split; apply G.
  - intro n. induction n as [|n IH].
    + rewrite sum_O. unfold right_half. rewrite cell_weight. simpl. rewrite area_0. lra.
    + rewrite sum_Sn, IH. unfold right_half. rewrite cell_weight. change (area (INR (S n)) + (area (IZR (Z.of_nat (S n) + 1)) - area (IZR (Z.of_nat (S n)))) = area (INR (S (S n)))).
      rewrite !INR_IZR_INZ. replace (Z.of_nat (S n) + 1)%Z with (Z.of_nat (S (S n))) by lia. ring.
  - intro n. apply H0.
  - assert (forall n, left_half (cell w) n = area (INR (S n)) - area (INR n)) as E.
    { intro n. unfold left_half. rewrite cell_weight. replace (-1 - Z.of_nat n + 1)%Z with (- Z.of_nat n)%Z by lia.
      replace (-1 - Z.of_nat n)%Z with (- Z.of_nat (S n))%Z by lia. rewrite !opp_IZR, <- !INR_IZR_INZ, !area_odd. ring. }
    intro n. induction n as [|n IH].
    + rewrite sum_O, E. simpl. rewrite area_0. ring.
    + rewrite sum_Sn, IH, E. change (area (INR (S n)) + (area (INR (S (S n))) - area (INR (S n))) = area (INR (S (S n)))). ring.
  - intro n. apply H0.
Qed.

(* What is at most M times the weight. *)
Definition limited_by (M : R) (g : R -> R) : Prop := forall t, Rabs (g t) <= M * w t.

Lemma cells_summable g M : integrable g -> limited_by M g -> summable (cell g).
Proof.
  intros G H. apply summable_le with (fun z => M * cell w z); [|apply summable_scale, weight_cells].
  intro z. unfold cell. rewrite <- integral_scale by apply w_integrable.
  apply integral_abs; [exact G | apply integrable_scale, w_integrable | exact H | apply IZR_le; lia].
Qed.

(* A move of the line changes no sum: first by less than a cell, then by whole cells. *)
Lemma cells_move_little g M m : integrable g -> limited_by M g -> 0 <= m <= 1 ->
  summable (cell (fun t => g (t + m))) /\ total (cell (fun t => g (t + m))) = total (cell g).
Proof.
  intros G H Hm. set (A := fun z => RInt g (IZR z + m) (IZR (z + 1))). set (B := fun z => RInt g (IZR z) (IZR z + m)).
  assert (forall z, cell (fun t => g (t + m)) z = A z + B (z + 1)%Z) as E1.
  { intro z. unfold cell. rewrite integral_move by exact G. apply (integral_split g); exact G. }
  assert (forall z, cell g z = B z + A z) as E2 by (intro z; apply (integral_split g); exact G).
  assert (0 <= M) as HM.
  { specialize (H 0). pose proof (Rabs_pos (g 0)). pose proof (w_pos 0). nra. }
  assert (forall a b z, IZR z <= a <= b -> b <= IZR (z + 1) -> Rabs (RInt g a b) <= M * cell w z) as Bound.
  { intros a b z Ha Hb. apply Rle_trans with (RInt (fun t => M * w t) a b).
    - apply integral_abs; [exact G | apply integrable_scale, w_integrable | exact H | lra].
    - rewrite integral_scale by apply w_integrable. apply Rmult_le_compat_l; [exact HM|].
      rewrite cell_weight, area_between. pose proof (area_le (IZR z) a ltac:(lra)). pose proof (area_le b _ Hb). lra. }
  assert (forall z, IZR (z + 1) = IZR z + 1) as Next by (intro z; now rewrite plus_IZR).
  assert (summable A) as SA.
  { apply summable_le with (fun z => M * cell w z); [|apply summable_scale, weight_cells].
    intro z. apply Bound; rewrite ?Next; lra. }
  assert (summable B) as SB.
  { apply summable_le with (fun z => M * cell w z); [|apply summable_scale, weight_cells].
    intro z. apply Bound; rewrite ?Next; lra. }
  replace (cell (fun t => g (t + m))) with (fun z => A z + B (z + 1)%Z) by (extensionality z; now rewrite E1).
  replace (cell g) with (fun z => B z + A z) by (extensionality z; now rewrite E2).
  split; [apply summable_plus; [exact SA | now apply summable_next]|].
  rewrite total_plus, total_plus, total_next by auto using summable_next. ring.
Qed.

Lemma cells_move g M m : integrable g -> limited_by M g ->
  summable (cell (fun t => g (t + m))) /\ total (cell (fun t => g (t + m))) = total (cell g).
Proof.
  intros G H. pose proof (archimed m) as [U1 U2]. set (k := (up m - 1)%Z). assert (0 <= m - IZR k <= 1) as Hk by (unfold k; rewrite minus_IZR; lra).
  destruct (cells_move_little g M _ G H Hk) as [S T].
  destruct (shift_total _ (- k) S) as [S' T'].
  assert (cell (fun t => g (t + m)) = fun z => cell (fun t => g (t + (m - IZR k))) (z - - k)%Z) as ->.
  { extensionality z. unfold cell. rewrite !integral_move by exact G. f_equal; rewrite ?plus_IZR, ?minus_IZR, ?opp_IZR; ring. }
  split; [exact S' | now rewrite T', T].
Qed.

Lemma limited_product f M : (forall t, Rabs (f t) <= M) -> limited_by M (fun t => f t * w t).
Proof.
  intros H t. rewrite Rabs_mult, (Rabs_pos_eq (w t)) by (left; apply w_pos). apply Rmult_le_compat_r; [left; apply w_pos | apply H].
Qed.
Lemma test_product f : (forall t, 0 <= f t <= 1) -> limited_by 1 (fun t => f t * w t).
Proof. intro H. apply limited_product. intro t. rewrite Rabs_pos_eq; apply H. Qed.

(* The half-line from c on. *)
Definition half_line (c t : R) : R := if Rle_dec c t then 1 else 0.
Lemma half_line_bounds c t : 0 <= half_line c t <= 1.
Proof. unfold half_line. destruct (Rle_dec c t); lra. Qed.

Lemma half_line_integral c a b : a <= b -> is_RInt (fun t => half_line c t * w t) a b (area (Rmax c b) - area (Rmax c a)).
Proof.
  intro L. assert (forall u v, u <= v <= c -> is_RInt (fun t => half_line c t * w t) u v 0) as Before.
  { intros u v H. apply (is_RInt_ext (fun _ => 0)).
    - rewrite Rmin_left, Rmax_right by lra. intros t Ht. unfold half_line. destruct (Rle_dec c t); lra.
    - pose proof (is_RInt_const (V := R_NormedModule) u v 0) as E. unfold scal in E. simpl in E. unfold mult in E. simpl in E. now rewrite Rmult_0_r in E. }
  assert (forall u v, c <= u <= v -> is_RInt (fun t => half_line c t * w t) u v (area v - area u)) as After.
  { intros u v H. rewrite <- area_between. apply (is_RInt_ext w); [|apply (RInt_correct w), w_integrable].
    rewrite Rmin_left, Rmax_right by lra. intros t Ht. unfold half_line. destruct (Rle_dec c t); lra. }
  destruct (Rle_dec b c); [|destruct (Rle_dec c a)].
  - rewrite !Rmax_left by lra. rewrite Rminus_eq_0. apply Before. lra.
  - rewrite !Rmax_right by lra. apply After. lra.
  - rewrite Rmax_right, Rmax_left by lra. replace (area b - area c) with (plus 0 (area b - area c)) by apply Rplus_0_l.
    apply (is_RInt_Chasles (V := R_NormedModule) _ a c b); [apply Before | apply After]; lra.
Qed.

Lemma half_line_integrable c : integrable (fun t => half_line c t * w t).
Proof.
  intros a b. destruct (Rle_dec a b) as [L|L].
  - eexists. now apply half_line_integral.
  - apply ex_RInt_swap. eexists. apply half_line_integral. lra.
Qed.

Lemma Series_telescope (a F : nat -> R) (l : R) : F O = 0 -> (forall n, a n = F (S n) - F n) -> is_lim_seq F l -> Series a = l.
Proof.
  intros H0 H L. assert (forall n, sum_n a n = F (S n)) as E.
  { intro n. induction n as [|n IH]; [rewrite sum_O, H, H0; lra|]. rewrite sum_Sn, IH, H.
    change (F (S n) + (F (S (S n)) - F (S n)) = F (S (S n))). ring. }
  apply is_series_unique. change (is_lim_seq (sum_n a) l). apply (is_lim_seq_ext (fun n => F (S n))); [intro; now rewrite E|].
  now apply (is_lim_seq_incr_1 F).
Qed.

Theorem half_line_total c : total (cell (fun t => half_line c t * w t)) = half_area - area c.
Proof.
  assert (forall z, cell (fun t => half_line c t * w t) z = area (Rmax c (IZR (z + 1))) - area (Rmax c (IZR z))) as E.
  { intro z. apply is_RInt_unique, half_line_integral, IZR_le. lia. }
  destruct (nfloor_ex (Rmax 0 (Rabs c)) (Rmax_l _ _)) as [N HN].
  assert (forall n, (S N <= n)%nat -> Rabs c <= INR n) as Far.
  { intros n Hn. apply le_INR in Hn. rewrite S_INR in Hn. pose proof (Rmax_r 0 (Rabs c)). lra. }
  unfold total.
  rewrite (Series_telescope (right_half _) (fun n => area (Rmax c (INR n)) - area (Rmax c 0)) (half_area - area (Rmax c 0))).
  - rewrite (Series_telescope (left_half _) (fun n => area (Rmax c 0) - area (Rmax c (- INR n))) (area (Rmax c 0) - area c)); [ring | simpl; rewrite Ropp_0; ring | |].
    + intro n. unfold left_half. rewrite E.
      replace (-1 - Z.of_nat n + 1)%Z with (- Z.of_nat n)%Z by lia. replace (-1 - Z.of_nat n)%Z with (- Z.of_nat (S n))%Z by lia.
      rewrite !opp_IZR, <- !INR_IZR_INZ. ring.
    + apply (is_lim_seq_ext_loc (fun _ => area (Rmax c 0) - area c)); [|apply is_lim_seq_const].
      exists (S N). intros n Hn. rewrite (Rmax_left c (- INR n)); [reflexivity|]. pose proof (Far n Hn). pose proof (Rle_abs (- c)). rewrite Rabs_Ropp in *. lra.
  - simpl. ring.
  - intro n. unfold right_half. rewrite E.
    replace (Z.of_nat n + 1)%Z with (Z.of_nat (S n)) by lia. rewrite <- !INR_IZR_INZ. ring.
  - apply (is_lim_seq_minus' (fun n => area (Rmax c (INR n))) (fun _ => area (Rmax c 0))); [|apply is_lim_seq_const].
    apply (is_lim_seq_ext_loc (fun n => area (INR n))); [|exact (area_limit w)].
    exists (S N). intros n Hn. rewrite Rmax_right; [reflexivity|]. pose proof (Far n Hn). pose proof (Rle_abs c). lra.
Qed.

Theorem weight_total : total (cell w) = 2 * half_area.
Proof.
  assert (forall z, cell w z = area (IZR (z + 1)) - area (IZR z)) as E by (intro; apply area_between).
  unfold total. rewrite (Series_telescope (right_half _) (fun n => area (INR n)) half_area), (Series_telescope (left_half _) (fun n => area (INR n)) half_area);
    try exact (area_limit w); try apply area_0; [ring | |]; intro n; unfold right_half, left_half; rewrite E.
  - replace (-1 - Z.of_nat n + 1)%Z with (- Z.of_nat n)%Z by lia. replace (-1 - Z.of_nat n)%Z with (- Z.of_nat (S n))%Z by lia.
    rewrite !opp_IZR, <- !INR_IZR_INZ, !area_odd. ring.
  - replace (Z.of_nat n + 1)%Z with (Z.of_nat (S n)) by lia. now rewrite <- !INR_IZR_INZ.
Qed.

Lemma cells_mirror g M : integrable g -> limited_by M g -> total (cell (fun t => g (- t))) = total (cell g).
Proof.
  intros G H. pose proof (cells_summable g M G H) as S.
  assert (cell (fun t => g (- t)) = fun z => (fun y => cell g (- y)%Z) (z + 1)%Z) as ->.
  { extensionality z. unfold cell. rewrite integral_mirror by exact G. rewrite <- !opp_IZR. f_equal; f_equal; lia. }
  pose proof (total_next _ (summable_opposite _ S)) as N. cbn beta in *. rewrite N. exact (total_opposite _ S).
Qed.

Lemma cells_plus f g : integrable f -> integrable g -> cell (fun t => f t + g t) = fun z => cell f z + cell g z.
Proof. intros F G. extensionality z. now apply integral_plus. Qed.
Lemma cells_scale c f : integrable f -> cell (fun t => c * f t) = fun z => c * cell f z.
Proof. intro F. extensionality z. now apply integral_scale. Qed.
Lemma cells_le f g M N : integrable f -> integrable g -> limited_by M f -> limited_by N g -> (forall t, f t <= g t) ->
  total (cell f) <= total (cell g).
Proof.
  intros F G HF HG H. apply total_le; [now apply (cells_summable f M) | now apply (cells_summable g N) |].
  intro z. apply RInt_le; [apply IZR_le; lia | apply F | apply G | auto].
Qed.

(* The law. *)
Definition measurable_line (f : R -> R) : Prop := (exists M, forall t, Rabs (f t) <= M) /\ integrable (fun t => f t * w t).
Definition mean_line (f : R -> R) : R := / (2 * half_area) * total (cell (fun t => f t * w t)).

Lemma all_area_pos : 0 < / (2 * half_area).
Proof. apply Rinv_0_lt_compat. pose proof half_area_pos. lra. Qed.

Definition line : law R.
Proof.
  pose proof all_area_pos as Ha. pose proof half_area_pos as Hh.
  refine (Law measurable_line mean_line _ _ _ _ _ _ _ _); unfold mean_line.
  - intro c. split; [exists (Rabs c); intro; lra | apply integrable_scale, w_integrable].
  - intros f g [[M HM] F] [[N HN] G]. split.
    + exists (M + N). intro t. eapply Rle_trans; [apply Rabs_triang|]. specialize (HM t). specialize (HN t). lra.
    + apply (integrable_ext (fun t => f t * w t + g t * w t)); [intro; ring | now apply integrable_plus].
  - intros c f [[M HM] F]. split.
    + exists (Rabs c * M). intro t. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos | apply HM].
    + apply (integrable_ext (fun t => c * (f t * w t))); [intro; ring | now apply integrable_scale].
  - intros f g [[M HM] F] [[N HN] G]. split.
    + exists (Rmax M N). intro t. specialize (HM t). specialize (HN t).
      pose proof (Rmax_l M N). pose proof (Rmax_r M N). unfold Rmax at 1. destruct (Rle_dec (f t) (g t)); lra.
    + apply (integrable_ext (fun t => / 2 * (f t * w t + g t * w t) + / 2 * Rabs (f t * w t + -1 * (g t * w t)))).
      * intro t. pose proof (w_pos t). unfold Rmax, Rabs. destruct (Rcase_abs _), (Rle_dec (f t) (g t)); nra.
      * apply integrable_plus; apply integrable_scale; [|apply integrable_abs]; apply integrable_plus; try assumption. now apply integrable_scale.
  - intro c. rewrite cells_scale, total_scale, weight_total by apply w_integrable. field. lra.
  - intros f g [[M HM] F] [[N HN] G]. rewrite <- Rmult_plus_distr_l. f_equal.
    rewrite <- total_plus by (eapply cells_summable; [eassumption | now apply limited_product]). f_equal.
    rewrite <- cells_plus by assumption. f_equal. extensionality t. ring.
  - intros c f [_ F]. replace (fun t => c * f t * w t) with (fun t => c * (f t * w t)) by (extensionality t; ring).
    rewrite cells_scale, total_scale by assumption. ring.
  - intros f g [[M HM] F] [[N HN] G] H. apply Rmult_le_compat_l; [lra|].
    apply (cells_le _ _ M N F G); [now apply limited_product | now apply limited_product |].
    intro t. apply Rmult_le_compat_r; [left; apply w_pos | apply H].
Defined.
End Line.

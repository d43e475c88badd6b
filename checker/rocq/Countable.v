(* Laws on countable outcomes: the outcomes are integers, and a mean is a series over all of them. *)
From Coq Require Import Reals Lra Lia ZArith List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose.
Open Scope R_scope.

Definition right_half (f : Z -> R) (n : nat) : R := f (Z.of_nat n).
Definition left_half (f : Z -> R) (n : nat) : R := f (- 1 - Z.of_nat n)%Z.
Definition summable (f : Z -> R) : Prop :=
  ex_series (fun n => Rabs (right_half f n)) /\ ex_series (fun n => Rabs (left_half f n)).
Definition total (f : Z -> R) : R := Series (right_half f) + Series (left_half f).

Lemma summable_halves f : summable f -> ex_series (right_half f) /\ ex_series (left_half f).
Proof. intros [H1 H2]. split; now apply ex_series_Rabs. Qed.

Lemma ex_series_abs (a b : nat -> R) : (forall n, Rabs (a n) <= b n) -> ex_series b ->
  ex_series (fun n => Rabs (a n)).
Proof.
  intros H E. apply (ex_series_le (K := R_AbsRing) (V := R_CompleteNormedModule)) with b; [|exact E].
  intro n. change (Rabs (Rabs (a n)) <= b n). now rewrite Rabs_Rabsolu.
Qed.

Lemma summable_le f g : (forall z, Rabs (f z) <= g z) -> summable g -> summable f.
Proof.
  intros H [H1 H2]. split; [apply ex_series_abs with (2 := H1) | apply ex_series_abs with (2 := H2)];
    intro n; (eapply Rle_trans; [apply H | apply Rle_abs]).
Qed.

Lemma summable_plus f g : summable f -> summable g -> summable (fun z => f z + g z).
Proof.
  intros [F1 F2] [G1 G2].
  split; [apply ex_series_abs with (2 := ex_series_plus (K := R_AbsRing) (V := R_NormedModule) _ _ F1 G1)
         | apply ex_series_abs with (2 := ex_series_plus (K := R_AbsRing) (V := R_NormedModule) _ _ F2 G2)];
    intro n; apply Rabs_triang.
Qed.

Lemma summable_scale c f : summable f -> summable (fun z => c * f z).
Proof.
  intros [F1 F2].
  split; [apply ex_series_abs with (2 := ex_series_scal (K := R_AbsRing) (V := R_NormedModule) (Rabs c) _ F1)
         | apply ex_series_abs with (2 := ex_series_scal (K := R_AbsRing) (V := R_NormedModule) (Rabs c) _ F2)];
    intro n; unfold right_half, left_half; rewrite Rabs_mult; apply Rle_refl.
Qed.

Lemma total_plus f g : summable f -> summable g -> total (fun z => f z + g z) = total f + total g.
Proof.
  intros Hf Hg. destruct (summable_halves f Hf), (summable_halves g Hg). unfold total.
  change (right_half (fun z => f z + g z)) with (fun n => right_half f n + right_half g n).
  change (left_half (fun z => f z + g z)) with (fun n => left_half f n + left_half g n).
  rewrite !Series_plus by assumption. lra.
Qed.

Lemma total_scale c f : total (fun z => c * f z) = c * total f.
Proof.
  unfold total. change (right_half (fun z => c * f z)) with (fun n => c * right_half f n).
  change (left_half (fun z => c * f z)) with (fun n => c * left_half f n).
  rewrite !Series_scal_l. lra.
Qed.

Lemma total_0 : total (fun _ => 0) = 0.
Proof.
  replace (fun _ : Z => 0) with (fun _ : Z => 0 * 0) by (extensionality z; lra).
  rewrite (total_scale 0 (fun _ => 0)). lra.
Qed.

Lemma summable_0 : summable (fun _ => 0).
Proof.
  split; exists 0; apply is_series_Reals; intros e He; exists O; intros; unfold R_dist;
    rewrite sum_eq_R0 by (intros; apply Rabs_R0); now rewrite Rminus_0_r, Rabs_R0.
Qed.

Lemma Series_nonneg a : (forall n, 0 <= a n) -> ex_series a -> 0 <= Series a.
Proof.
  intros H E. replace 0 with (Series (fun n => 0 * a n)) by (rewrite Series_scal_l; lra).
  apply Series_le; [|exact E]. intro n. specialize (H n). lra.
Qed.

Lemma total_nonneg f : summable f -> (forall z, 0 <= f z) -> 0 <= total f.
Proof.
  intros Hf H. destruct (summable_halves f Hf) as [H1 H2]. unfold total.
  pose proof (Series_nonneg _ (fun n => H (Z.of_nat n)) H1).
  pose proof (Series_nonneg _ (fun n => H (- 1 - Z.of_nat n)%Z) H2). unfold right_half, left_half in *. lra.
Qed.

Lemma total_le f g : summable f -> summable g -> (forall z, f z <= g z) -> total f <= total g.
Proof.
  intros Hf Hg H. enough (0 <= total (fun z => g z + -1 * f z)) as E.
  - rewrite total_plus, total_scale in E by auto using summable_scale. lra.
  - apply total_nonneg; [auto using summable_plus, summable_scale|]. intro z. specialize (H z). lra.
Qed.

(* A shift of all outcomes changes no sum. *)
Lemma series_incr (a : nat -> R) : ex_series a -> Series a = a O + Series (fun n => a (S n)).
Proof. intro E. now rewrite Series_incr_1. Qed.

Lemma summable_next f : summable f -> summable (fun z => f (z + 1)%Z).
Proof.
  intros [H1 H2]. split.
  - apply (ex_series_ext (fun n => Rabs (right_half f (S n)))).
    + intro n. unfold right_half. now replace (Z.of_nat (S n)) with (Z.of_nat n + 1)%Z by lia.
    + apply (ex_series_incr_1 (K := R_AbsRing) (V := R_NormedModule)) in H1. exact H1.
  - apply (ex_series_incr_1 (K := R_AbsRing) (V := R_NormedModule)).
    apply (ex_series_ext (fun n => Rabs (left_half f n))); [|exact H2].
    intro n. unfold left_half. now replace (- 1 - Z.of_nat n)%Z with (-1 - Z.of_nat (S n) + 1)%Z by lia.
Qed.

Lemma total_next f : summable f -> total (fun z => f (z + 1)%Z) = total f.
Proof.
  intro H. destruct (summable_halves f H) as [H1 H2].
  destruct (summable_halves _ (summable_next f H)) as [_ H3]. unfold total.
  rewrite (series_incr _ H1), (series_incr _ H3).
  rewrite (Series_ext (fun n => left_half (fun z => f (z + 1)%Z) (S n)) (left_half f)).
  - rewrite (Series_ext (fun n => right_half f (S n)) (right_half (fun z => f (z + 1)%Z))).
    + unfold right_half, left_half. simpl. lra.
    + intro n. unfold right_half. f_equal. lia.
  - intro n. unfold left_half. f_equal. lia.
Qed.

Lemma summable_opposite f : summable f -> summable (fun z => f (- z)%Z).
Proof.
  intros [H1 H2]. split.
  - apply (ex_series_incr_1 (K := R_AbsRing) (V := R_NormedModule)).
    apply (ex_series_ext (fun n => Rabs (left_half f n))); [|exact H2].
    intro n. unfold right_half, left_half. f_equal. f_equal. lia.
  - apply (ex_series_ext (fun n => Rabs (right_half f (S n)))).
    + intro n. unfold right_half, left_half. f_equal. f_equal. lia.
    + apply (ex_series_incr_1 (K := R_AbsRing) (V := R_NormedModule)) in H1. exact H1.
Qed.

Lemma total_opposite f : summable f -> total (fun z => f (- z)%Z) = total f.
Proof.
  intro H. destruct (summable_halves f H) as [H1 H2].
  destruct (summable_halves _ (summable_opposite f H)) as [H3 _]. unfold total.
  rewrite (series_incr _ H1), (series_incr _ H3).
  rewrite (Series_ext (fun n => right_half (fun z => f (- z)%Z) (S n)) (left_half f)).
  - rewrite (Series_ext (fun n => right_half f (S n)) (left_half (fun z => f (- z)%Z))).
    + unfold right_half. simpl. lra.
    + intro n. unfold right_half, left_half. f_equal. lia.
  - intro n. unfold right_half, left_half. f_equal. lia.
Qed.

Lemma shift_nat k : forall f, summable f ->
  summable (fun z => f (z + Z.of_nat k)%Z) /\ total (fun z => f (z + Z.of_nat k)%Z) = total f.
Proof.
  induction k as [|k IH]; intros f H.
  - replace (fun z => f (z + Z.of_nat 0)%Z) with f; [auto|]. extensionality z. f_equal. lia.
  - destruct (IH f H) as [S1 T1].
    replace (fun z => f (z + Z.of_nat (S k))%Z) with (fun z => f (z + 1 + Z.of_nat k)%Z) by (extensionality z; f_equal; lia).
    split; [exact (summable_next _ S1) | rewrite <- T1; exact (total_next _ S1)].
Qed.

Theorem shift_total f s : summable f ->
  summable (fun z => f (z - s)%Z) /\ total (fun z => f (z - s)%Z) = total f.
Proof.
  intro H. destruct (Z.le_gt_cases s 0) as [L|L].
  - destruct (shift_nat (Z.to_nat (- s)) f H) as [A B].
    replace (fun z => f (z - s)%Z) with (fun z => f (z + Z.of_nat (Z.to_nat (- s)))%Z) by (extensionality z; f_equal; lia). auto.
  - destruct (shift_nat (Z.to_nat s) (fun z => f (- z)%Z) (summable_opposite f H)) as [A B].
    pose proof (summable_opposite _ A) as A'. pose proof (total_opposite _ A) as B'. cbn beta in A', B'.
    replace (fun z => f (z - s)%Z) with (fun z => f (- (- z + Z.of_nat (Z.to_nat s)))%Z) by (extensionality z; f_equal; lia).
    split; [exact A' | rewrite B', B; now apply total_opposite].
Qed.

(* Finitely many outcomes of a sum. *)
Definition at_points (l : list Z) (f : Z -> R) (z : Z) : R := sum (fun k => if Z.eqb z k then f k else 0) l.

Lemma total_point k a : summable (fun z => if Z.eqb z k then a else 0)
  /\ total (fun z => if Z.eqb z k then a else 0) = a.
Proof.
  assert (summable (fun z => if Z.eqb z 0 then a else 0) /\ total (fun z => if Z.eqb z 0 then a else 0) = a) as [S0 T0].
  { set (f := fun z => if Z.eqb z 0 then a else 0).
    assert (forall n, right_half f (S n) = 0) as R0 by (intro n; unfold f, right_half; destruct (Z.eqb_spec (Z.of_nat (S n)) 0); [lia | reflexivity]).
    assert (forall n, left_half f n = 0) as L0 by (intro n; unfold f, left_half; destruct (Z.eqb_spec (-1 - Z.of_nat n) 0); [lia | reflexivity]).
    destruct summable_0 as [Z0 _].
    assert (summable f) as Sf.
    { split.
      - apply (ex_series_incr_1 (K := R_AbsRing) (V := R_NormedModule)).
        apply (ex_series_ext (fun n => Rabs (right_half (fun _ => 0) n))); [|exact Z0]. intro n. rewrite R0. reflexivity.
      - apply (ex_series_ext (fun n => Rabs (right_half (fun _ => 0) n))); [|exact Z0]. intro n. rewrite L0. reflexivity. }
    split; [exact Sf|]. destruct (summable_halves f Sf) as [E1 _]. unfold total. rewrite (series_incr _ E1).
    rewrite (Series_ext _ (fun n => 0 * right_half f n)) by (intro n; rewrite R0; lra).
    rewrite (Series_ext (left_half f) (fun n => 0 * left_half f n)) by (intro n; rewrite L0; lra).
    rewrite !Series_scal_l. unfold f, right_half. simpl. lra. }
  destruct (shift_total _ k S0) as [Sk Tk].
  replace (fun z => if Z.eqb z k then a else 0) with (fun z => if Z.eqb (z - k) 0 then a else 0).
  - split; [exact Sk | now rewrite Tk].
  - extensionality z. destruct (Z.eqb_spec (z - k) 0), (Z.eqb_spec z k); (lia || reflexivity).
Qed.

Lemma total_points l f : summable (at_points l f) /\ total (at_points l f) = sum f l.
Proof.
  induction l as [|k l [S1 T1]].
  - split; [apply summable_0 | apply total_0].
  - destruct (total_point k (f k)) as [Sk Tk].
    split; [exact (summable_plus _ _ Sk S1)|].
    eapply eq_trans; [exact (total_plus _ _ Sk S1)|]. simpl. lra.
Qed.

Lemma at_points_in l f z : NoDup l -> at_points l f z = if in_dec Z.eq_dec z l then f z else 0.
Proof.
  induction 1 as [|k l Hk Hl IH]; [reflexivity|]. unfold at_points. simpl. fold (at_points l f z).
  rewrite IH. destruct (Z.eq_dec k z) as [->|Hne].
  - rewrite Z.eqb_refl. destruct (in_dec Z.eq_dec z l); [contradiction | lra].
  - destruct (Z.eqb_spec z k); [congruence|]. destruct (in_dec Z.eq_dec z l); lra.
Qed.

(* The law of a probability for each integer. *)
Record masses := Masses {
  mass :> Z -> R;
  mass_nonneg : forall z, 0 <= mass z;
  mass_summable : summable mass;
  mass_total : total mass = 1 }.

Definition limited (f : Z -> R) : Prop := exists M, forall z, Rabs (f z) <= M.

Lemma summable_mass (p : masses) f : limited f -> summable (fun z => p z * f z).
Proof.
  intros [M HM]. apply summable_le with (fun z => Rabs M * p z).
  - intro z. rewrite Rabs_mult, (Rabs_pos_eq (p z)) by apply mass_nonneg. rewrite Rmult_comm.
    apply Rmult_le_compat_r; [apply mass_nonneg|]. specialize (HM z). pose proof (Rle_abs M). lra.
  - apply summable_scale, mass_summable.
Qed.

Definition countable (p : masses) : law Z.
Proof.
  refine (Law limited (fun f => total (fun z => p z * f z)) _ _ _ _ _ _ _ _).
  - intro c. exists (Rabs c). intro z. lra.
  - intros f g [M HM] [N HN]. exists (M + N). intro z. eapply Rle_trans; [apply Rabs_triang|]. specialize (HM z). specialize (HN z). lra.
  - intros c f [M HM]. exists (Rabs c * M). intro z. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos | apply HM].
  - intros f g [M HM] [N HN]. exists (Rmax M N). intro z. specialize (HM z). specialize (HN z).
    pose proof (Rmax_l M N). pose proof (Rmax_r M N). unfold Rmax at 1. destruct (Rle_dec (f z) (g z)); lra.
  - intro c. replace (fun z => p z * c) with (fun z => c * p z) by (extensionality z; lra).
    rewrite total_scale, mass_total. lra.
  - intros f g Hf Hg. rewrite <- total_plus by now apply summable_mass. f_equal. extensionality z. lra.
  - intros c f Hf. rewrite <- total_scale. f_equal. extensionality z. lra.
  - intros f g Hf Hg H. apply total_le; try now apply summable_mass. intro z.
    apply Rmult_le_compat_l; [apply mass_nonneg | apply H].
Defined.

(* Every event is measurable. *)
Lemma countable_measurable (p : masses) S : measurable (countable p) (indicator S).
Proof. exists 1. intro z. pose proof (indicator_bounds S z). rewrite Rabs_pos_eq; lra. Qed.

Lemma countable_complete (p : masses) : complete (countable p).
Proof. intros h Hh. exists 1. intro z. rewrite Rabs_pos_eq; apply Hh. Qed.

Definition pos (x : R) : R := Rmax 0 x.

Lemma pos_gain t a : 0 <= t <= 1 -> t * a <= pos a.
Proof. intro H. unfold pos. destruct (Rle_dec 0 a); [rewrite Rmax_right by lra | rewrite Rmax_left by lra]; nra. Qed.

Lemma summable_excess (p q : masses) x : 0 <= x -> summable (fun z => pos (p z - x * q z)).
Proof.
  intro Hx. apply summable_le with p; [|apply mass_summable]. intro z. unfold pos. rewrite Rabs_pos_eq by apply Rmax_l.
  pose proof (mass_nonneg p z). pose proof (mass_nonneg q z). apply Rmax_lub; nra.
Qed.

(* The sum of positive parts bounds every event and every test. *)
Theorem positive_parts (p q : masses) :
  below (fun x => total (fun z => pos (p z - x * q z))) (countable p) (countable q).
Proof.
  intros f [Pf Bf] _ x Hx. simpl in *. rewrite <- total_scale.
  pose proof (summable_mass p f Pf) as S1. pose proof (summable_scale x _ (summable_mass q f Pf)) as S2.
  enough (total (fun z => p z * f z) + -1 * total (fun z => x * (q z * f z)) <= total (fun z => pos (p z - x * q z))) by lra.
  rewrite <- total_scale, <- total_plus by auto using summable_scale.
  apply total_le; auto using summable_plus, summable_scale, summable_excess. intro z.
  replace (p z * f z + -1 * (x * (q z * f z))) with (f z * (p z - x * q z)) by ring. now apply pos_gain.
Qed.

Corollary positive_parts_dp eps delta (p q : masses) :
  total (fun z => pos (p z - exp eps * q z)) <= delta -> dp eps delta (countable p) (countable q).
Proof. intro H. eapply below_dp; [apply positive_parts | exact H]. Qed.

(* Truncation: finitely many outcomes decide, and what is outside of them adds its probability. *)
Theorem truncated_positive_parts (p q : masses) (l : list Z) : NoDup l ->
  below (fun x => sum (fun z => pos (p z - x * q z)) l + (1 - sum p l)) (countable p) (countable q).
Proof.
  intros Hl f Pf Qf x Hx. eapply Rle_trans; [now apply positive_parts|].
  destruct (total_points l (fun z => pos (p z - x * q z))) as [S1 T1]. destruct (total_points l p) as [S2 T2].
  rewrite <- T1, <- T2, <- (mass_total p). 
  replace (total (at_points l (fun z => pos (p z - x * q z))) + (total p - total (at_points l p)))
    with (total (fun z => at_points l (fun z => pos (p z - x * q z)) z + (p z + -1 * at_points l p z))).
  - apply total_le; auto using summable_excess, summable_plus, summable_scale, mass_summable.
    intro z. rewrite !at_points_in by assumption. destruct (in_dec Z.eq_dec z l); [lra|].
    pose proof (mass_nonneg p z). pose proof (mass_nonneg q z). unfold pos. enough (Rmax 0 (p z - x * q z) <= p z) by lra.
    apply Rmax_lub; nra.
  - pose proof (mass_summable p). rewrite total_plus, total_plus, total_scale by auto using summable_plus, summable_scale. lra.
Qed.

(* What a program releases is a rounded number, and the theorems about laws with a density are about every event of it. *)
From Coq Require Import Reals Lra Lia ZArith.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable Line Moves.
Open Scope R_scope.

(* The mean is the integral over the whole line. *)
Theorem mean_is_integral (w : weight) f : measurable (line w) f ->
  is_lim_seq (fun n => RInt (fun t => f t * w t) (- INR n) (INR n) / (2 * half_area w)) (mean (line w) f).
Proof.
  intros [[M HM] F]. set (g := fun t => f t * w t). change (integrable g) in F.
  assert (limited_by w M g) as L by (now apply limited_product).
  destruct (summable_halves _ (cells_summable w g M F L)) as [E1 E2].
  assert (is_lim_seq (fun n => sum_n (right_half (cell g)) n + sum_n (left_half (cell g)) n) (Countable.total (cell g))) as Sums.
  { apply is_lim_seq_plus'; [exact (Series_correct _ E1) | exact (Series_correct _ E2)]. }
  assert (forall n, sum_n (right_half (cell g)) n + sum_n (left_half (cell g)) n = RInt g (- INR (S n)) (INR (S n))) as E.
  { intro n. rewrite (integral_split g (- INR (S n)) 0 (INR (S n)) F).
    assert (forall k, sum_n (right_half (cell g)) k = RInt g 0 (INR (S k))) as R1.
    { intro k. induction k as [|k IH].
      - rewrite sum_O. unfold right_half, cell. simpl. reflexivity.
      - rewrite sum_Sn, IH, (integral_split g 0 (INR (S k)) (INR (S (S k))) F). unfold right_half, cell.
        rewrite !INR_IZR_INZ. now replace (Z.of_nat (S (S k))) with (Z.of_nat (S k) + 1)%Z by lia. }
    assert (forall k, sum_n (left_half (cell g)) k = RInt g (- INR (S k)) 0) as R2.
    { assert (forall k, left_half (cell g) k = RInt g (- INR (S k)) (- INR k)) as C.
      { intro k. unfold left_half, cell. rewrite !INR_IZR_INZ, <- !opp_IZR. f_equal; f_equal; lia. }
      intro k. induction k as [|k IH].
      - rewrite sum_O, C. simpl INR. now rewrite Ropp_0.
      - rewrite sum_Sn, IH, C, (integral_split g (- INR (S (S k))) (- INR (S k)) 0 F). apply Rplus_comm. }
    rewrite R1, R2. apply Rplus_comm. }
  apply is_lim_seq_incr_1.
  apply (is_lim_seq_ext (fun n => / (2 * half_area w) * (sum_n (right_half (cell g)) n + sum_n (left_half (cell g)) n))).
  - intro n. rewrite E. apply Rmult_comm.
  - exact (is_lim_seq_scal_l _ (/ (2 * half_area w)) _ Sums).
Qed.

(* A rounding is any function to integers that does not fall: to a grid, to whole numbers, to floating-point numbers in their order. *)
Section Rounding.
Variables (w : weight) (g : R -> Z) (h : Z -> R).
Hypothesis g_rises : forall s t, s <= t -> (g s <= g t)%Z.

Lemma steps_integrable n : forall k a b, a <= b -> (forall t, a < t < b -> (k <= g t <= k + Z.of_nat n)%Z) ->
  ex_RInt (fun t => h (g t) * w t) a b.
Proof.
  induction n as [|n IH]; intros k a b Hab H.
  - apply (ex_RInt_ext (fun t => h k * w t)); [|apply integrable_scale, w_integrable].
    rewrite Rmin_left, Rmax_right by assumption. intros t Ht. specialize (H t Ht). now replace (g t) with k by lia.
  - (* c is the last place where g is k *)
    destruct (completeness (fun t => a <= t <= b /\ (t = a \/ (g t <= k)%Z))) as [c [C1 C2]].
    + exists b. intros t [Ht _]. lra.
    + exists a. split; [lra | now left].
    + assert (a <= c) as Hac by (apply C1; split; [lra | now left]).
      assert (c <= b) as Hcb by (apply C2; intros t [Ht _]; lra).
      apply (ex_RInt_Chasles (V := R_NormedModule) _ a c b).
      * apply (ex_RInt_ext (fun t => h k * w t)); [|apply integrable_scale, w_integrable].
        rewrite Rmin_left, Rmax_right by assumption. intros t Ht. replace (g t) with k; [reflexivity|].
        specialize (H t ltac:(lra)). destruct (Z.le_gt_cases (g t) k) as [|L]; [lia|]. exfalso.
        assert (c <= t); [|lra]. apply C2. intros s [Hs [->|Ls]]; [lra|]. destruct (Rle_dec s t); [assumption|].
        specialize (g_rises t s ltac:(lra)). lia.
      * apply (IH (k + 1)%Z); [assumption|]. intros t Ht. specialize (H t ltac:(lra)). destruct (Z.le_gt_cases (g t) k) as [L|]; [|lia].
        exfalso. assert (t <= c); [|lra]. apply C1. split; [lra | now right].
Qed.

Lemma rounded_integrable : integrable (fun t => h (g t) * w t).
Proof.
  assert (forall a b, a <= b -> ex_RInt (fun t => h (g t) * w t) a b) as G.
  { intros a b L. apply (steps_integrable (Z.to_nat (g b - g a)) (g a)); [assumption|]. intros t Ht.
    pose proof (g_rises a t ltac:(lra)). pose proof (g_rises t b ltac:(lra)). lia. }
  intros a b. destruct (Rle_dec a b); [now apply G | apply ex_RInt_swap, G; lra].
Qed.
End Rounding.

(* Every event of a rounded number has a probability; by post_processing_curve its bounds are those of the number itself. *)
Theorem rounded_complete (w : weight) scale value (g : R -> Z) : 0 < scale -> (forall s t, s <= t -> (g s <= g t)%Z) ->
  complete (image g (noisy_value w scale value)).
Proof.
  intros Hs Hg h Hh. change (measurable (line w) (fun t => h (g (value + scale * t)))). split.
  - exists 1. intro t. rewrite Rabs_pos_eq; apply Hh.
  - apply (rounded_integrable w (fun t => g (value + scale * t)) h). intros s t H. apply Hg. nra.
Qed.

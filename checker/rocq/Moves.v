(* A number with noise on the real line: how well a move of the number can be told.

   The best events are half-lines, as for noise on integers. *)
From Coq Require Import Reals Lra Lia ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable Line.
Open Scope R_scope.

Section Moves.
Variable w : weight.
Local Notation w_pos := (height_pos w).
Local Notation half_area := (half_area w).
Local Notation noise := (line w).

(* A value with noise of a scale. *)
Definition noisy_value (scale value : R) : law R := image (fun t => value + scale * t) noise.

(* The values of neighbours differ by at most the sensitivity. *)
Inductive moved_value (scale sensitivity : R) : class :=
| is_moved_value (v u : R) : Rabs (v - u) <= sensitivity ->
    moved_value scale sensitivity R (noisy_value scale v) (noisy_value scale u).

(* The probability of what is above c. *)
Definition tail (c : R) : R := / 2 - area_of w c / (2 * half_area).

Lemma half_pos : 0 < half_area.
Proof. apply (half_area_pos w). Qed.

Definition sums (g : R -> R) : R := Countable.total (cell g).
Lemma mean_noise f : mean noise f = / (2 * half_area) * sums (fun t => f t * w t).
Proof. reflexivity. Qed.

Lemma half_line_test c : test noise (half_line c).
Proof.
  split; [|apply half_line_bounds]. split; [|apply half_line_integrable].
  exists 1. intro t. pose proof (half_line_bounds c t). rewrite Rabs_pos_eq; lra.
Qed.

Theorem tail_mean c : mean noise (half_line c) = tail c.
Proof.
  rewrite mean_noise. unfold sums. rewrite (half_line_total w).
  unfold tail. pose proof half_pos. field. lra.
Qed.

(* The weight of a moved law, times x, is less from c on, and more before: or it is one of both everywhere. *)
Definition threshold (m x c : R) : Prop := (forall t, c <= t -> x * w t <= w (t - m)) /\ (forall t, t <= c -> w (t - m) <= x * w t).
Definition likelihood (m x : R) : Prop :=
  (exists c, threshold m x c) \/ (forall t, x * w t <= w (t - m)) \/ (forall t, w (t - m) <= x * w t).

(* Both laws on the line of the second one. *)
Section Pair.
Variables (m x : R) (h : R -> R).
Hypothesis x_nonneg : 0 <= x.
Hypothesis h_first : test noise (fun t => h (t + m)).
Hypothesis h_second : test noise h.

Lemma h_bounds t : 0 <= h t <= 1.
Proof. apply h_second. Qed.

Lemma first_integrable : integrable (fun t => h t * w (t - m)).
Proof.
  destruct h_first as [[_ H] _]. apply (integrable_move _ (- m)) in H.
  apply (integrable_ext (fun t => h (t + - m + m) * w (t + - m))); [|exact H]. intro t. f_equal; f_equal; ring.
Qed.
Lemma first_move : summable (cell (fun t => h t * w (t - m))) /\ sums (fun t => h t * w (t - m)) = sums (fun t => h (t + m) * w t).
Proof.
  destruct h_first as [[_ H] B].
  destruct (cells_move w _ 1 (- m) H) as [S T]; [now apply test_product|].
  assert ((fun t => h t * w (t - m)) = fun t => h (t + - m + m) * w (t + - m)) as -> by (extensionality t; f_equal; f_equal; ring). now split.
Qed.
Lemma second_summable : summable (cell (fun t => h t * w t)).
Proof.
  destruct h_second as [[_ H] B]. apply (cells_summable w _ 1 H). now apply test_product.
Qed.

Lemma difference : mean noise (fun t => h (t + m)) - x * mean noise h
  = / (2 * half_area) * sums (fun t => h t * (w (t - m) - x * w t))
  /\ summable (cell (fun t => h t * (w (t - m) - x * w t))) /\ integrable (fun t => h t * (w (t - m) - x * w t)).
Proof.
  destruct first_move as [S1 T1]. pose proof second_summable as S2. destruct h_second as [[_ H2] _]. pose proof first_integrable as H1.
  assert ((fun t => h t * (w (t - m) - x * w t)) = (fun t => h t * w (t - m) + - x * (h t * w t))) as -> by (extensionality t; ring).
  split; [|split; [|apply integrable_plus; [exact H1 | now apply integrable_scale]]].
  - rewrite !mean_noise, <- T1. unfold sums.
    rewrite cells_plus, cells_scale, total_plus, total_scale by first [assumption | now apply integrable_scale | now apply summable_scale]. ring.
  - rewrite cells_plus, cells_scale by first [assumption | now apply integrable_scale]. apply summable_plus; [exact S1 | now apply summable_scale].
Qed.
End Pair.

(* No test is better than one whose outcome is best everywhere. *)
Lemma best_test m x h k : 0 <= x -> test noise (fun t => h (t + m)) -> test noise h -> test noise (fun t => k (t + m)) -> test noise k ->
  (forall t, h t * (w (t - m) - x * w t) <= k t * (w (t - m) - x * w t)) ->
  mean noise (fun t => h (t + m)) - x * mean noise h <= mean noise (fun t => k (t + m)) - x * mean noise k.
Proof.
  intros Hx H1 H2 K1 K2 H. destruct (difference m x h H1 H2) as [-> [Sh Ih]]. destruct (difference m x k K1 K2) as [-> [Sk Ik]].
  apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; pose proof half_pos; lra|].
  apply total_le; [exact Sh | exact Sk|]. intro z. apply RInt_le; [apply IZR_le; lia | apply Ih | apply Ik | intros; apply H].
Qed.

Lemma half_line_move c m : (fun t => half_line c (t + m)) = half_line (c - m).
Proof. extensionality t. unfold half_line. destruct (Rle_dec c (t + m)), (Rle_dec (c - m) t); lra. Qed.

Lemma tail_le a b : a <= b -> tail b <= tail a.
Proof.
  intro H. unfold tail. pose proof half_pos. apply (area_le w) in H.
  assert (area_of w a / (2 * half_area) <= area_of w b / (2 * half_area)); [|lra].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | exact H].
Qed.

Lemma threshold_value m x c h : 0 <= x -> threshold m x c -> test noise (fun t => h (t + m)) -> test noise h ->
  mean noise (fun t => h (t + m)) - x * mean noise h <= tail (c - m) - x * tail c.
Proof.
  intros Hx [C1 C2] H1 H2. assert (forall t, 0 <= h t <= 1) as Hh by apply H2.
  rewrite <- !tail_mean, <- half_line_move. apply best_test; auto using half_line_test.
  - rewrite half_line_move. apply half_line_test.
  - intro t. unfold half_line. specialize (Hh t). destruct (Rle_dec c t) as [L|L].
    + specialize (C1 t L). nra.
    + specialize (C2 t ltac:(lra)). nra.
Qed.

Lemma all_better m x h : 0 <= x -> (forall t, x * w t <= w (t - m)) -> test noise (fun t => h (t + m)) -> test noise h ->
  mean noise (fun t => h (t + m)) - x * mean noise h <= 1 - x.
Proof.
  intros Hx C H1 H2. assert (forall t, 0 <= h t <= 1) as Hh by apply H2.
  eapply Rle_trans; [apply (best_test m x h (fun _ => 1)); auto using test_one|].
  - intro t. specialize (Hh t). specialize (C t). nra.
  - rewrite !mean_const. lra.
Qed.

Lemma none_better m x h : 0 <= x -> (forall t, w (t - m) <= x * w t) -> test noise (fun t => h (t + m)) -> test noise h ->
  mean noise (fun t => h (t + m)) - x * mean noise h <= 0.
Proof.
  intros Hx C H1 H2. assert (forall t, 0 <= h t <= 1) as Hh by apply H2.
  assert (test noise (fun _ => 0)) as T0 by (split; [apply measurable_const | intros; lra]).
  eapply Rle_trans; [apply (best_test m x h (fun _ => 0)); auto|].
  - intro t. specialize (Hh t). specialize (C t). nra.
  - rewrite !mean_const. lra.
Qed.

Variables (mu x V : R).
Hypothesis x_nonneg : 0 <= x.
Hypothesis largest : forall h, test noise (fun t => h (t + mu)) -> test noise h ->
  mean noise (fun t => h (t + mu)) - x * mean noise h <= V.
Hypothesis ratio : forall m, 0 <= m <= mu -> likelihood m x.

(* No test is better for a smaller move. *)
Lemma value_bound m h : 0 <= m <= mu -> test noise (fun t => h (t + m)) -> test noise h ->
  mean noise (fun t => h (t + m)) - x * mean noise h <= V.
Proof.
  intros Hm H1 H2. destruct (ratio m Hm) as [[c C]|[C|C]].
  - eapply Rle_trans; [apply (threshold_value m x c h x_nonneg C H1 H2)|].
    pose proof (largest (half_line c)) as B. rewrite half_line_move, !tail_mean in B.
    specialize (B (half_line_test _) (half_line_test _)). pose proof (tail_le (c - mu) (c - m) ltac:(lra)). lra.
  - pose proof (largest (fun _ => 1) (test_one _) (test_one _)) as B. rewrite !mean_const in B.
    pose proof (all_better m x h x_nonneg C H1 H2). lra.
  - assert (test noise (fun _ => 0)) as T0 by (split; [apply measurable_const | intros; lra]).
    pose proof (largest (fun _ => 0) T0 T0) as B. rewrite !mean_const in B. pose proof (none_better m x h x_nonneg C H1 H2). lra.
Qed.

Lemma mirror_test h : test noise h -> test noise (fun t => h (- t)) /\ mean noise (fun t => h (- t)) = mean noise h.
Proof.
  intros [[_ H] B].
  assert ((fun t => h (- t) * w t) = (fun t => (fun s => h s * w s) (- t))) as E by (extensionality t; now rewrite (height_even w)).
  split.
  - split; [|intro; apply B]. split; [exists 1; intro t; specialize (B (- t)); rewrite Rabs_pos_eq; lra|].
    rewrite E. exact (integrable_mirror _ H).
  - rewrite !mean_noise, E. unfold sums. rewrite (cells_mirror w (fun s => h s * w s) 1 H); [reflexivity | now apply test_product].
Qed.

Lemma line_bound h k m : (forall t, k t = h (t + m)) -> Rabs m <= mu -> test noise k -> test noise h -> mean noise k - x * mean noise h <= V.
Proof.
  intros E Hm Hk Hh. destruct (Rle_dec 0 m) as [L|L].
  - rewrite Rabs_pos_eq in Hm by assumption. assert (k = fun t => h (t + m)) as E' by (extensionality t; apply E). subst k.
    apply value_bound; [lra | exact Hk | exact Hh].
  - rewrite Rabs_left in Hm by lra. destruct (mirror_test _ Hk) as [P1 P2]. destruct (mirror_test _ Hh) as [Q1 Q2].
    rewrite <- P2, <- Q2. set (g := fun t => h (- t)) in *.
    assert ((fun t => k (- t)) = fun t => g (t + - m)) as E' by (extensionality t; rewrite E; unfold g; f_equal; ring).
    rewrite E' in P1 |- *. apply value_bound; [lra | exact P1 | exact Q1].
Qed.

Theorem moved_value_below scale : 0 < scale -> forall Y P Q, moved_value scale (mu * scale) Y P Q ->
  forall f, test P f -> test Q f -> mean P f - x * mean Q f <= V.
Proof.
  intros Hs Y P Q [v u Hvu] f Pf Qf.
  assert (test noise (fun t => f (v + scale * t))) as Pf' by (destruct Pf as [M B]; split; [exact M | intro; apply B]).
  assert (test noise (fun t => f (u + scale * t))) as Qf' by (destruct Qf as [M B]; split; [exact M | intro; apply B]).
  clear Pf Qf. rename Pf' into Pf. rename Qf' into Qf.
  change (mean noise (fun t => f (v + scale * t)) - x * mean noise (fun t => f (u + scale * t)) <= V).
  apply (line_bound (fun t => f (u + scale * t)) (fun t => f (v + scale * t)) ((v - u) / scale)); [| |exact Pf|exact Qf].
  - intro t. f_equal. field. lra.
  - unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ scale)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with scale; [assumption|]. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
End Moves.

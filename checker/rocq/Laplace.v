(* Laplace noise: the density in proportion to e^-|t|, and its curve, also as the checker computes it. *)
From Coq Require Import Reals Lra Lia ZArith Bool FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From DP Require Import Law Profile Compose Countable Basic Fixed Exponential Logarithm Above Tops Line Moves.
Open Scope R_scope.

Definition peak (t : R) : R := exp (- Rabs t).

Lemma peak_pos t : 0 < peak t.
Proof. apply exp_pos. Qed.
Lemma peak_even t : peak (- t) = peak t.
Proof. unfold peak. now rewrite Rabs_Ropp. Qed.
Lemma peak_continuous t : continuous peak t.
Proof.
  unfold peak. apply (continuous_comp (fun t => - Rabs t) exp).
  - apply (continuous_opp (V := R_NormedModule) Rabs). apply continuous_Rabs.
  - apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact Logic.I.
Qed.

Lemma area_peak c : 0 <= c -> area_of peak c = 1 - exp (- c).
Proof.
  intro Hc. unfold area_of. apply (is_RInt_unique (V := R_CompleteNormedModule)).
  apply (is_RInt_ext (fun t => exp (- t))).
  - rewrite Rmin_left, Rmax_right by exact Hc. intros t Ht. unfold peak. now rewrite Rabs_pos_eq by lra.
  - replace (1 - exp (- c)) with (Hierarchy.minus (- exp (- c)) (- exp (- 0))).
    + apply (is_RInt_derive (fun t => - exp (- t))); intros t _.
      * auto_derive; [exact Logic.I|]. ring.
      * apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact Logic.I.
    + unfold Hierarchy.minus, Hierarchy.plus, Hierarchy.opp. simpl. rewrite Ropp_0, exp_0. ring.
Qed.

Lemma peak_limit : is_lim_seq (fun n => area_of peak (INR n)) 1.
Proof.
  apply (is_lim_seq_ext (fun n => 1 - exp (-1) ^ n)).
  - intro n. rewrite area_peak by apply pos_INR. f_equal. induction n as [|n IH]; [simpl; now rewrite Ropp_0, exp_0|].
    rewrite S_INR. replace (- (INR n + 1)) with (- INR n + -1) by ring. rewrite exp_plus, <- IH. simpl. ring.
  - replace (Finite 1) with (Finite (1 - 0)) by (f_equal; ring). apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply is_lim_seq_geom. rewrite Rabs_pos_eq by (left; apply exp_pos). rewrite <- exp_0. apply exp_increasing. lra.
Qed.

Definition laplace : weight := {|
  height := peak; height_pos := peak_pos; height_even := peak_even; height_continuous := peak_continuous;
  half_area := 1; area_limit := peak_limit |}.

(* A value with Laplace noise of a scale. *)
Definition moved_laplace (scale sensitivity : R) : class := moved_value laplace scale sensitivity.

(* ln of the ratio of the densities, |t| - |t - m|, rises from -m to m. *)
Lemma peak_ratio m l t : 0 <= m -> (l <= Rabs t - Rabs (t - m) -> exp l * peak t <= peak (t - m))
  /\ (Rabs t - Rabs (t - m) <= l -> peak (t - m) <= exp l * peak t).
Proof.
  intros _. unfold peak. rewrite <- exp_plus. split; intro H.
  - destruct (Req_dec (l + - Rabs t) (- Rabs (t - m))) as [->|]; [lra | left; apply exp_increasing; lra].
  - destruct (Req_dec (l + - Rabs t) (- Rabs (t - m))) as [->|]; [lra | left; apply exp_increasing; lra].
Qed.

Lemma peak_cases m l : 0 <= m ->
  (- m < l < m /\ threshold laplace m (exp l) ((l + m) / 2)) \/ (l <= - m /\ forall t, exp l * laplace t <= laplace (t - m))
  \/ (m <= l /\ forall t, laplace (t - m) <= exp l * laplace t).
Proof.
  intro Hm. change (height laplace) with peak. destruct (Rle_dec l (- m)) as [L|L]; [|destruct (Rle_dec m l) as [U|U]].
  - right. left. split; [exact L|]. intro t. apply (peak_ratio m l t Hm). unfold Rabs. destruct (Rcase_abs t), (Rcase_abs (t - m)); lra.
  - right. right. split; [exact U|]. intro t. apply (peak_ratio m l t Hm). unfold Rabs. destruct (Rcase_abs t), (Rcase_abs (t - m)); lra.
  - left. split; [lra|]. split; intros t Ht; change (height laplace) with peak; apply (peak_ratio m l t Hm); unfold Rabs; destruct (Rcase_abs t), (Rcase_abs (t - m)); lra.
Qed.

(* The curve at e^l: 1 - e^l up to -mu, then 1 - e^((l - mu)/2), and 0 from mu on: the largest of the three. *)
Definition laplace_curve (mu l : R) : R := Rmax 0 (Rmax (1 - exp l) (1 - exp ((l - mu) / 2))).

Lemma tail_laplace c : 0 <= c -> tail laplace c = exp (- c) / 2 /\ tail laplace (- c) = 1 - exp (- c) / 2.
Proof.
  intro Hc. unfold tail. rewrite (area_odd laplace c). change (height laplace) with peak. change (half_area laplace) with 1.
  rewrite area_peak by exact Hc. lra.
Qed.

Theorem laplace_below mu scale l : 0 <= mu -> 0 < scale -> forall Y P Q, moved_laplace scale (mu * scale) Y P Q ->
  forall f, test P f -> test Q f -> mean P f - exp l * mean Q f <= laplace_curve mu l.
Proof.
  intros Hm Hs. pose proof (exp_pos l). apply moved_value_below; try lra.
  - intros h H1 H2. unfold laplace_curve. pose proof (Rmax_l 0 (Rmax (1 - exp l) (1 - exp ((l - mu) / 2)))).
    pose proof (Rmax_r 0 (Rmax (1 - exp l) (1 - exp ((l - mu) / 2)))).
    pose proof (Rmax_l (1 - exp l) (1 - exp ((l - mu) / 2))). pose proof (Rmax_r (1 - exp l) (1 - exp ((l - mu) / 2))).
    destruct (peak_cases mu l Hm) as [[L C]|[[L C]|[L C]]].
    + pose proof (threshold_value laplace mu (exp l) _ h ltac:(lra) C H1 H2) as B.
      destruct (tail_laplace ((l + mu) / 2) ltac:(lra)) as [T1 _]. destruct (tail_laplace ((mu - l) / 2) ltac:(lra)) as [_ T2].
      replace ((l + mu) / 2 - mu) with (- ((mu - l) / 2)) in B by field. rewrite T1, T2 in B.
      replace (- ((mu - l) / 2)) with ((l - mu) / 2) in B by field.
      assert (exp l * (exp (- ((l + mu) / 2)) / 2) = exp ((l - mu) / 2) / 2) as E.
      { unfold Rdiv at 1. rewrite <- Rmult_assoc, <- exp_plus. replace (l + - ((l + mu) / 2)) with ((l - mu) / 2) by field. reflexivity. }
      lra.
    + pose proof (all_better laplace mu (exp l) h ltac:(lra) C H1 H2). lra.
    + pose proof (none_better laplace mu (exp l) h ltac:(lra) C H1 H2). lra.
  - intros m Hm'. destruct (peak_cases m l ltac:(lra)) as [[_ C]|[[_ C]|[_ C]]]; [left; now exists ((l + m) / 2) | right; now left | right; now right].
Qed.

(* Laplace noise is (mu, 0)-DP. *)
Theorem laplace_noise_approximate mu scale : 0 <= mu -> 0 < scale -> forall Y P Q, moved_laplace scale (mu * scale) Y P Q -> approximate mu 0 Y P Q.
Proof.
  intros Hm Hs Y P Q H f Pf Qf. assert (moved_laplace scale (mu * scale) Y Q P) as H'.
  { destruct H as [v u H]. constructor. now rewrite Rabs_minus_sym. }
  assert (laplace_curve mu mu = 0) as E.
  { unfold laplace_curve. replace ((mu - mu) / 2) with 0 by field. rewrite exp_0. apply Rmax_left. apply Rmax_lub; [|lra].
    assert (1 <= exp mu); [|lra]. rewrite <- exp_0. destruct Hm as [Hm| <-]; [left; now apply exp_increasing | lra]. }
  pose proof (laplace_below mu scale mu Hm Hs Y P Q H f Pf Qf). pose proof (laplace_below mu scale mu Hm Hs Y Q P H' f Qf Pf). lra.
Qed.

Section LaplaceTop.
Variable p : positive.

Definition half_ends (u : ends) : ends :=
  match u with Some (a, b) => Some (down_div a 2, up_div b 2) | None => None end.
Lemma half_ends_holds u x : holds p u x -> holds p (half_ends u) (x / 2).
Proof.
  destruct u as [[a b]|]; simpl; auto. pose proof (down_div_le a 2 eq_refl). pose proof (up_div_ge b 2 eq_refl). lra.
Qed.

Definition larger (u v : ends) : ends :=
  match u, v with Some (a, b), Some (c, d) => Some (Z.max a c, Z.max b d) | _, _ => None end.
Lemma larger_holds u v x y : holds p u x -> holds p v y -> holds p (larger u v) (Rmax x y).
Proof.
  destruct u as [[a b]|], v as [[c d]|]; simpl; auto. rewrite !max_IZR. pose proof (one_posR p). intros [H1 H2] [H3 H4].
  unfold Rmax. destruct (Rle_dec x y), (Rle_dec (IZR a) (IZR c)), (Rle_dec (IZR b) (IZR d)); split; nra.
Qed.

Definition laplace_top (mu : ends) : top := fun X =>
  match X with
  | Some (x, _) =>
      let y := exactly (guess p x) in
      let e := exponential p y in
      let one := whole p 1 in
      upper_end (plus (positive_part (larger (minus one e) (minus one (exponential p (half_ends (minus y mu))))))
                      (positive_part (minus e X)))
  | None => None
  end.

Theorem tops_laplace u mu scale : 0 <= mu -> 0 < scale -> holds p u mu -> tops p (laplace_top u) (moved_laplace scale (mu * scale)).
Proof.
  intros Hm Hs Hu X x t HX Hx. unfold laplace_top. destruct X as [[x1 x2]|] eqn:EX; [|discriminate]. rewrite <- EX in *.
  set (y := guess p x1). intros Ht Y P Q HC f Pf Qf.
  pose proof (exactly_holds p y) as Hy. pose proof (exponential_holds p _ _ Hy) as He. set (z := real_of p y) in *.
  pose proof (minus_holds p _ _ _ _ (whole_holds p 1) He) as H1.
  pose proof (minus_holds p _ _ _ _ (whole_holds p 1) (exponential_holds p _ _ (half_ends_holds _ _ (minus_holds p _ _ _ _ Hy Hu)))) as H2.
  pose proof (positive_part_holds p _ _ (larger_holds _ _ _ _ H1 H2)) as H3.
  eapply Rle_trans; [|apply (upper_end_ge p _ _ _ (plus_holds p _ _ _ _ H3 (positive_part_holds p _ _ (minus_holds p _ _ _ _ He HX))) Ht)].
  pose proof (laplace_below mu scale z Hm Hs Y P Q HC f Pf Qf) as B. unfold laplace_curve in B.
  pose proof (mean_bounds Q f Qf). pose proof (Rmax_l 0 (exp z - x)). pose proof (Rmax_r 0 (exp z - x)). nra.
Qed.
End LaplaceTop.

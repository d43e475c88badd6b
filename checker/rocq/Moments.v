(* Renyi divergences of whole sessions, and those of (epsilon, 0)-DP mechanisms and of sampling. *)
From Coq Require Import Reals Lra Lia ZArith List Permutation FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Sampling Basic Noise NoiseTop Promise Renyi Tops Fixed.
Open Scope R_scope.

(* Divergence of order a at most R of all that is seen, where moment = (a - 1) R: the inequality of Renyi.v for the transcript. *)
Definition session_moment (a moment : R) (s : session) : Prop :=
  forall h, decision s h -> decision s (fun t => pw (b a) (h t)) ->
  mean_first s (fun t => pw (b a) (h t)) <= exp (moment / a) * pw (b a) (mean_second s h).

(* Divergences of one order add up, whatever an analyst chooses. *)
Theorem moments_add_up a ms Cs : 1 < a -> Forall (fun m => 0 <= m) ms -> Forall2 (moment_class a) ms Cs ->
  forall s, spends Cs s -> session_moment a (sum (fun m => m) ms) s.
Proof.
  intros Ha Hm HC s. revert ms Cs Hm HC. induction s as [|Y P Q next IH]; intros ms Cs Hm HC Hs h Hh Hp.
  - simpl in *. assert (0 <= sum (fun m => m) ms) as H0 by (apply sum_nonneg; now apply Forall_forall).
    assert (1 <= exp (sum (fun m => m) ms / a)) as H1.
    { rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra]. }
    pose proof (pw_nonneg (b a) (h tt)). nra.
  - destruct Hs as [C [rest [Hperm [HPQ Hn]]]]. destruct (Forall2_permutation (moment_class a) _ _ Hperm _ HC) as [ms' [Hp' HC']].
    inversion HC' as [|m ? more ? Hmoment Hmore]; subst. rewrite (sum_permutation _ _ _ Hp'). simpl sum.
    assert (Forall (fun m => 0 <= m) (m :: more)) as Hall by (eapply Permutation_Forall; eassumption).
    inversion Hall as [|? ? M0 Hmore0]; subst. destruct Hh as [Hd [_ [M2 M3]]]. destruct Hp as [Pd [P1 _]].
    set (g := fun o => mean_first (next o) (fun t => pw (b a) (h (existT _ o t)))) in *.
    set (k := fun o => mean_second (next o) (fun t => h (existT _ o t))) in *.
    assert (forall o, 0 <= k o <= 1) as Hk by (intro o; apply mean_second_bounds, Hd).
    destruct (Hmoment Y P Q HPQ k (conj M2 Hk) (conj M3 Hk)) as [T1 T2].
    set (E := exp (sum (fun m => m) more / a)).
    assert (mean P g <= E * mean P (fun o => pw (b a) (k o))) as G.
    { rewrite <- mean_scale by apply T1. apply mean_le; [exact P1 | apply measurable_scale, T1|].
      intro o. apply (IH o more rest Hmore0 Hmore (Hn o) _ (Hd o) (Pd o)). }
    change (mean P g <= exp ((m + sum (fun m => m) more) / a) * pw (b a) (mean Q k)).
    replace ((m + sum (fun m => m) more) / a) with (sum (fun m => m) more / a + m / a) by (field; lra).
    rewrite exp_plus. fold E. assert (0 < E) by apply exp_pos. nra.
Qed.

Section Order.
Variable a : R.
Hypothesis a_large : 1 < a.
Let beta := b a.
Let beta_bounds : 0 < beta < 1 := b_bounds a a_large.

(* x^b is below its tangents. *)
Lemma tangent x y : 0 <= x -> pw beta x <= exp (beta * y) * ((1 - beta) + beta * exp (- y) * x).
Proof.
  intro Hx. pose proof (exp_pos (beta * y)). pose proof (exp_pos (- y)). unfold pw. destruct (Rlt_dec 0 x) as [L|L].
  - pose proof (exp_convex (1 - beta) beta (beta * y) (beta * y + ln x - y) ltac:(lra) ltac:(lra) ltac:(lra)) as C.
    replace ((1 - beta) * (beta * y) + beta * (beta * y + ln x - y)) with (beta * ln x) in C by ring.
    replace (beta * y + ln x - y) with (beta * y + (ln x + - y)) in C by ring. rewrite !exp_plus, exp_ln in C by exact L. lra.
  - assert (x = 0) as -> by lra. rewrite Rmult_0_r, Rplus_0_r. apply Rmult_le_pos; lra.
Qed.

(* What is below all tangents at m is at most m^b. *)
Lemma below_tangents v m : 0 <= m -> (forall y, v <= exp (beta * y) * ((1 - beta) + beta * exp (- y) * m)) -> v <= pw beta m.
Proof.
  intros Hm H. unfold pw. destruct (Rlt_dec 0 m) as [L|L].
  - specialize (H (ln m)). rewrite exp_Ropp, exp_ln in H by exact L. replace (beta * / m * m) with beta in H by (field; lra). lra.
  - assert (m = 0) as -> by lra. apply Rnot_lt_le. intro Hv. specialize (H ((ln v - ln (1 - beta)) / beta - 1)).
    rewrite Rmult_0_r, Rplus_0_r in H.
    replace (beta * ((ln v - ln (1 - beta)) / beta - 1)) with (ln v + - ln (1 - beta) + - beta) in H by (field; lra).
    rewrite !exp_plus, exp_Ropp, !exp_ln in H by lra.
    assert (exp (- beta) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    replace (v * / (1 - beta) * exp (- beta) * (1 - beta)) with (v * exp (- beta)) in H by (field; lra). nra.
Qed.

(* Jensen's inequality. *)
Lemma jensen {O} (P : law O) h : test P h -> measurable P (fun o => pw beta (h o)) -> mean P (fun o => pw beta (h o)) <= pw beta (mean P h).
Proof.
  intros [Hm Hh] Hp. apply below_tangents; [apply (mean_bounds P h); now split|]. intro y.
  assert (measurable P (fun o => exp (beta * y) * ((1 - beta) + beta * exp (- y) * h o))) as M.
  { apply measurable_scale. apply (measurable_plus P (fun _ => 1 - beta)); [apply measurable_const | now apply measurable_scale]. }
  apply Rle_trans with (mean P (fun o => exp (beta * y) * ((1 - beta) + beta * exp (- y) * h o))).
  - apply mean_le; [exact Hp | exact M|]. intro o. apply tangent, Hh.
  - rewrite mean_scale, (mean_plus P (fun _ => 1 - beta)), mean_const, mean_scale by
      first [exact Hm | apply measurable_const | now apply measurable_scale | apply (measurable_plus P (fun _ => 1 - beta)); [apply measurable_const | now apply measurable_scale]].
    lra.
Qed.

Lemma concave u v s t : 0 <= u -> 0 <= v -> u + v = 1 -> 0 <= s -> 0 <= t -> u * pw beta s + v * pw beta t <= pw beta (u * s + v * t).
Proof.
  intros Hu Hv H1 Hs Ht. apply below_tangents; [nra|]. intro y. pose proof (tangent s y Hs). pose proof (tangent t y Ht).
  set (e := exp (beta * y)) in *. set (d := exp (- y)) in *. replace v with (1 - u) in * by lra.
  apply Rle_trans with (u * (e * (1 - beta + beta * d * s)) + (1 - u) * (e * (1 - beta + beta * d * t))); [apply Rplus_le_compat; apply Rmult_le_compat_l; assumption|].
  right. ring.
Qed.

Lemma pw_monotone x y : 0 <= x -> x <= y -> pw beta x <= pw beta y.
Proof.
  intros Hx H. unfold pw. destruct (Rlt_dec 0 x), (Rlt_dec 0 y); try lra.
  - apply exp_le. apply Rmult_le_compat_l; [lra|]. destruct H as [H| ->]; [left; now apply ln_increasing | lra].
  - left. apply exp_pos.
Qed.
Lemma exp_moment m : 0 <= m -> 1 <= exp (m / a).
Proof. intro H. rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra]. Qed.

(* Sampling does not raise a divergence: it is quasi-convex. *)
Lemma mixed_moment m C : moment_class a m C -> moment_class a m (mixed C).
Proof.
  intros H Y P Q HC. induction HC as [Y P Q HC|Y r P1 Q1 P2 Q2 _ IH1 _ IH2]; [now apply H|]. intros h Ph Qh.
  destruct (mixture_test _ _ _ _ Ph) as [A1 A2]. destruct (mixture_test _ _ _ _ Qh) as [B1 B2].
  destruct (IH1 h A1 B1) as [T1 E1]. destruct (IH2 h A2 B2) as [T2 E2]. split.
  - destruct r as [r Hr]. split; [split; [apply T1 | apply T2] | apply T1].
  - rewrite !mixture_mean. destruct r as [r Hr]. cbn [value]. destruct (mean_bounds Q1 h B1) as [U1 _]. destruct (mean_bounds Q2 h B2) as [U2 _].
    assert (0 <= r) as R0 by lra. assert (0 <= 1 - r) as R1 by lra. assert (r + (1 - r) = 1) as R2 by ring.
    pose proof (concave r (1 - r) (mean Q1 h) (mean Q2 h) R0 R1 R2 U1 U2) as C1. pose proof (exp_pos (m / a)).
    apply Rle_trans with (exp (m / a) * (r * pw beta (mean Q1 h) + (1 - r) * pw beta (mean Q2 h))); [|apply Rmult_le_compat_l; [lra | exact C1]].
    apply (Rmult_le_compat_l r) in E1; [|exact R0]. apply (Rmult_le_compat_l (1 - r)) in E2; [|exact R1]. fold beta in E1, E2. fold beta. lra.
Qed.

Lemma mixed_reversed C Y P Q : mixed C Y P Q -> mixed (reversed C) Y Q P.
Proof. intro H. induction H; [now apply mixed_one | now apply mixed_two]. Qed.

Theorem sampled_moment m r C : 0 <= m -> moment_class a m C -> moment_class a m (reversed C) ->
  moment_class a m (sampled r C) /\ moment_class a m (reversed (sampled r C)).
Proof.
  intros Hm H1 H2. pose proof (exp_moment m Hm) as He. set (e := exp (m / a)) in *.
  assert (forall Y P Q, sampled r C Y P Q -> exists P0, P = mixture r P0 Q /\ moment_bounded a m Y P0 Q /\ moment_bounded a m Y Q P0) as G.
  { intros Y P Q [Y0 P0 Q0 H]. exists P0. split; [reflexivity|]. split; [now apply (mixed_moment m C)|].
    apply (mixed_moment m (reversed C) H2). now apply mixed_reversed. }
  split; intros Y P Q HC.
  - destruct (G Y P Q HC) as [P0 [-> [B1 B2]]]. intros h Ph Qh. destruct (mixture_test _ _ _ _ Ph) as [A1 _].
    destruct (B1 h A1 Qh) as [T1 E1]. destruct (B2 h Qh A1) as [T2 _]. split.
    + destruct r as [r0 Hr]. split; [split; [apply T1 | apply T2] | apply T1].
    + rewrite mixture_mean. destruct r as [r0 Hr]. cbn [value]. pose proof (jensen Q h Qh (proj1 T2)) as J.
      pose proof (pw_nonneg beta (mean Q h)). fold beta e in E1. fold beta e.
      apply (Rmult_le_compat_l r0) in E1; [|lra]. apply (Rmult_le_compat_l (1 - r0)) in J; [|lra].
      assert ((1 - r0) * pw beta (mean Q h) <= (1 - r0) * (e * pw beta (mean Q h))) by (apply Rmult_le_compat_l; [lra | nra]). lra.
  - destruct (G Y Q P HC) as [P0 [-> [B1 B2]]]. intros h Ph Qh. destruct (mixture_test _ _ _ _ Qh) as [A1 _].
    destruct (B2 h Ph A1) as [T2 E2]. split; [exact T2|].
    rewrite mixture_mean. destruct r as [r0 Hr]. cbn [value]. pose proof (jensen P h Ph (proj1 T2)) as J.
    destruct (mean_bounds P0 h A1) as [U1 _]. destruct (mean_bounds P h Ph) as [U2 _].
    assert (0 <= r0) as R0 by lra. assert (0 <= 1 - r0) as R1 by lra. assert (r0 + (1 - r0) = 1) as R2 by ring.
    pose proof (concave r0 (1 - r0) _ _ R0 R1 R2 U1 U2) as C1. fold beta e in E2. fold beta e.
    apply Rle_trans with (e * (r0 * pw beta (mean P0 h) + (1 - r0) * pw beta (mean P h))); [|apply Rmult_le_compat_l; [lra | exact C1]].
    pose proof (pw_nonneg beta (mean P h)). apply (Rmult_le_compat_l r0) in E2; [|lra]. apply (Rmult_le_compat_l (1 - r0)) in J; [|lra].
    assert ((1 - r0) * pw beta (mean P h) <= (1 - r0) * (e * pw beta (mean P h))) by (apply Rmult_le_compat_l; [lra | nra]). lra.
Qed.

(* (epsilon, 0)-DP: a divergence of any order is at most epsilon. *)
Lemma pw_test {O} (P : law O) h : complete P -> test P h -> test P (fun o => pw beta (h o)).
Proof.
  intros HP [_ Hh]. assert (forall o, 0 <= pw beta (h o) <= 1) as B by (intro o; split; [apply pw_nonneg | apply pw_le_1; [lra | apply Hh]]).
  split; [now apply HP | exact B].
Qed.

Theorem pure_moment eps Y P Q : complete P -> approximate eps 0 Y P Q -> moment_bounded a ((a - 1) * eps) Y P Q.
Proof.
  intros HP H h Ph Qh. pose proof (pw_test P h HP Ph) as T. split; [exact T|].
  destruct (H h Ph Qh) as [L _]. rewrite Rplus_0_r in L. destruct (mean_bounds P h Ph) as [U _]. destruct (mean_bounds Q h Qh) as [V _].
  eapply Rle_trans; [apply (jensen P h Ph (proj1 T))|]. eapply Rle_trans; [apply (pw_monotone _ _ U L)|]. right.
  fold beta. unfold pw. pose proof (exp_pos eps). destruct (Rlt_dec 0 (mean Q h)) as [L1|L1], (Rlt_dec 0 (exp eps * mean Q h)) as [L2|L2]; try nra.
  rewrite ln_mult, ln_exp, Rmult_plus_distr_l, exp_plus by assumption. f_equal. f_equal. unfold beta, b. field. lra.
Qed.
End Order.

(* Any two (epsilon, 0)-DP laws are mixtures of two others as a randomised response is: P = t A + l B, Q = l A + t B. *)
Section Mixtures.
Variable eps : R.
Hypothesis eps_pos : 0 < eps.
Let t := truth eps.
Let l := lie eps.
Lemma truth_above_lie : 0 < l < t.
Proof.
  unfold t, l. rewrite truth_is_exp_lie. pose proof (lie_pos eps). assert (1 < exp eps) by (rewrite <- exp_0; now apply exp_increasing). nra.
Qed.

Definition part {O} (P Q : law O) (H : approximate eps 0 O P Q) : law O.
Proof.
  refine (Law (fun f => (measurable P f /\ measurable Q f) /\ exists M, forall o, Rabs (f o) <= M)
    (fun f => (t * mean P f - l * mean Q f) / (t - l)) _ _ _ _ _ _ _ _); pose proof truth_above_lie as T.
  - intro c. split; [split; apply measurable_const|]. exists (Rabs c). intro; lra.
  - intros f g [[F1 F2] [M HM]] [[G1 G2] [N HN]]. split; [split; now apply measurable_plus|]. exists (M + N). intro o.
    eapply Rle_trans; [apply Rabs_triang|]. specialize (HM o). specialize (HN o). lra.
  - intros c f [[F1 F2] [M HM]]. split; [split; now apply measurable_scale|]. exists (Rabs c * M). intro o. rewrite Rabs_mult.
    apply Rmult_le_compat_l; [apply Rabs_pos | apply HM].
  - intros f g [[F1 F2] [M HM]] [[G1 G2] [N HN]]. split; [split; now apply measurable_max|]. exists (Rmax M N). intro o.
    specialize (HM o). specialize (HN o). pose proof (Rmax_l M N). pose proof (Rmax_r M N). unfold Rmax at 1. destruct (Rle_dec (f o) (g o)); lra.
  - intro c. rewrite !mean_const. field. lra.
  - intros f g [[F1 F2] _] [[G1 G2] _]. rewrite !mean_plus by assumption. field. lra.
  - intros c f [[F1 F2] _]. rewrite !mean_scale by assumption. field. lra.
  - intros f g [[F1 F2] [M HM]] [[G1 G2] [N HN]] L.
    (* (g - f)/(M + N + 1) is a test, of which P has at least e^-epsilon of Q *)
    set (K := Rabs M + Rabs N + 1). pose proof (Rabs_pos M). pose proof (Rabs_pos N). assert (0 < K) as HK by (unfold K; lra).
    set (d := fun o => / K * (g o + -1 * f o)).
    assert (forall R0 : law O, measurable R0 f -> measurable R0 g -> test R0 d /\ mean R0 d = / K * (mean R0 g - mean R0 f)) as D.
    { intros R0 Hf Hg. assert (measurable R0 (fun o => g o + -1 * f o)) as Ms by (apply (measurable_plus R0 g); [exact Hg | now apply measurable_scale]).
      split; [split; [now apply measurable_scale|]|].
      - intro o. unfold d. specialize (L o). specialize (HM o). specialize (HN o). pose proof (Rle_abs M). pose proof (Rle_abs N).
        pose proof (Rle_abs (g o)). pose proof (Rle_abs (- f o)) as A. rewrite Rabs_Ropp in A.
        split; [apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat | lra]|].
        apply Rmult_le_reg_l with K; [exact HK|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. unfold K. lra.
      - unfold d. rewrite mean_scale by exact Ms. rewrite (mean_plus R0 g), mean_scale by first [assumption | now apply measurable_scale]. ring. }
    destruct (D P F1 G1) as [TP EP]. destruct (D Q F2 G2) as [TQ EQ]. destruct (H d TP TQ) as [_ X].
    rewrite EP, EQ, Rplus_0_r in X. assert (0 < / K) by now apply Rinv_0_lt_compat.
    assert (mean Q g - mean Q f <= exp eps * (mean P g - mean P f)) as X'.
    { apply Rmult_le_reg_l with (/ K); [assumption|]. lra. }
    assert (t = exp eps * l) as Et by apply truth_is_exp_lie.
    apply Rmult_le_reg_r with (t - l); [lra|]. unfold Rdiv. rewrite !Rmult_assoc, Rinv_l, !Rmult_1_r by lra.
    apply (Rmult_le_compat_l l) in X'; [|lra]. replace (l * (exp eps * (mean P g - mean P f))) with (t * (mean P g - mean P f)) in X' by (rewrite Et; ring). lra.
Defined.

Lemma part_mean {O} (P Q : law O) H f : mean (part P Q H) f = (t * mean P f - l * mean Q f) / (t - l).
Proof. reflexivity. Qed.

Lemma approximate_swap O (P Q : law O) : approximate eps 0 O P Q -> approximate eps 0 O Q P.
Proof. intros H f Qf Pf. destruct (H f Pf Qf). now split. Qed.
End Mixtures.

(* The two-point inequality of Hoelder. *)
Lemma hoelder a t l u v : 1 < a -> 0 < t -> 0 < l -> 0 <= u -> 0 <= v ->
  t * pw (b a) u + l * pw (b a) v
  <= exp (ln (exp (a * ln t + (1 - a) * ln l) + exp (a * ln l + (1 - a) * ln t)) / a) * pw (b a) (l * u + t * v).
Proof.
  intros Ha Ht Hl Hu Hv. pose proof (b_bounds a Ha) as Hb. pose proof (b_inverse a Ha) as Hi.
  set (x := a * ln t + (1 - a) * ln l). set (y := a * ln l + (1 - a) * ln t). set (K := exp x + exp y).
  assert (0 < K) as HK by (unfold K; pose proof (exp_pos x); pose proof (exp_pos y); lra). set (q := l * u + t * v).
  destruct (Rlt_dec 0 q) as [Hq|Hq].
  - set (scale := exp (ln K / a + b a * ln q)).
    assert (forall p0 q0 w z, 0 < p0 -> 0 < q0 -> 0 <= w -> z = a * ln p0 + (1 - a) * ln q0 ->
      p0 * pw (b a) w <= scale * (/ a * (exp z / K) + b a * (q0 * w / q))) as Young.
    { intros p0 q0 w z Hp0 Hq0 Hw ->. assert (0 < / a) by (apply Rinv_0_lt_compat; lra). assert (0 < / K) by now apply Rinv_0_lt_compat.
      assert (0 < / q) by now apply Rinv_0_lt_compat. pose proof (exp_pos (a * ln p0 + (1 - a) * ln q0)). assert (0 < scale) by apply exp_pos.
      unfold pw. destruct (Rlt_dec 0 w) as [L|L].
      - pose proof (exp_convex (/ a) (b a) (a * ln p0 + (1 - a) * ln q0 - ln K) (ln q0 + ln w - ln q) ltac:(lra) ltac:(lra) Hi) as C.
        assert (p0 * exp (b a * ln w) = scale * exp (/ a * (a * ln p0 + (1 - a) * ln q0 - ln K) + b a * (ln q0 + ln w - ln q))) as ->.
        { unfold scale. rewrite <- (exp_ln p0) at 1 by exact Hp0. rewrite <- !exp_plus. f_equal. unfold b. field. lra. }
        apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [exact C|]. right. unfold Rminus.
        rewrite !(exp_plus _ (- _)), !exp_Ropp, (exp_plus (ln q0)), !exp_ln by assumption. unfold Rdiv. ring.
      - assert (w = 0) as -> by lra. rewrite Rmult_0_r. apply Rmult_le_pos; [lra|].
        assert (0 <= / a * (exp (a * ln p0 + (1 - a) * ln q0) / K)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]). unfold Rdiv at 2. rewrite Rmult_0_r, Rmult_0_l. lra. }
    pose proof (Young t l u x Ht Hl Hu eq_refl) as Y1. pose proof (Young l t v y Hl Ht Hv eq_refl) as Y2.
    apply Rle_trans with (scale * (/ a * ((exp x + exp y) / K) + b a * ((l * u + t * v) / q))).
    + eapply Rle_trans; [apply (Rplus_le_compat _ _ _ _ Y1 Y2)|]. right. unfold Rdiv. ring.
    + fold K q. unfold Rdiv. rewrite !Rinv_r, !Rmult_1_r, Hi, Rmult_1_r by lra. unfold scale, pw. destruct (Rlt_dec 0 q); [|contradiction].
      rewrite exp_plus. right. reflexivity.
  - assert (u = 0 /\ v = 0) as [-> ->].
    { unfold q in Hq. assert (0 <= l * u) by nra. assert (0 <= t * v) by nra. split.
      - destruct Hu as [Hu| <-]; [assert (0 < l * u) by nra; lra | reflexivity].
      - destruct Hv as [Hv| <-]; [assert (0 < t * v) by nra; lra | reflexivity]. }
    rewrite !pw_0 by lra. lra.
Qed.

(* e^(y - y^2/2) + e^(-y - y^2/2) falls for y >= 0. *)
Lemma bells_fall x y : 0 <= x <= y -> exp (y - y * y / 2) + exp (- y - y * y / 2) <= exp (x - x * x / 2) + exp (- x - x * x / 2).
Proof.
  intros [Hx [Hxy| ->]]; [|lra].
  set (F := fun z => exp (z - z * z / 2) + exp (- z - z * z / 2)).
  set (F' := fun z => (1 - z) * exp (z - z * z / 2) + (- 1 - z) * exp (- z - z * z / 2)).
  assert (forall z, derivable_pt_lim F z (F' z)) as DF.
  { intro z. unfold F, F'. apply derivable_pt_lim_plus.
    - rewrite Rmult_comm. apply (derivable_pt_lim_comp (fun z => z - z * z / 2) exp); [|apply derivable_pt_lim_exp].
      replace (1 - z) with (1 - ((1 * z + z * 1) / 2)) by field.
      apply (derivable_pt_lim_minus (fun z => z) (fun z => z * z / 2)); [apply derivable_pt_lim_id|].
      replace ((1 * z + z * 1) / 2) with ((1 * z + z * 1) * / 2 + z * z * 0) by field.
      apply (derivable_pt_lim_mult (fun z => z * z) (fun _ => / 2)); [apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id | apply derivable_pt_lim_const].
    - rewrite Rmult_comm. apply (derivable_pt_lim_comp (fun z => - z - z * z / 2) exp); [|apply derivable_pt_lim_exp].
      replace (- 1 - z) with (- 1 - ((1 * z + z * 1) / 2)) by field.
      apply (derivable_pt_lim_minus (fun z => - z) (fun z => z * z / 2)); [apply (derivable_pt_lim_opp id); apply derivable_pt_lim_id|].
      replace ((1 * z + z * 1) / 2) with ((1 * z + z * 1) * / 2 + z * z * 0) by field.
      apply (derivable_pt_lim_mult (fun z => z * z) (fun _ => / 2)); [apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id | apply derivable_pt_lim_const]. }
  destruct (MVT_cor2 F F' x y Hxy (fun z _ => DF z)) as [z [E [Z1 Z2]]].
  assert (F' z <= 0) as N.
  { unfold F'. assert (exp (z - z * z / 2) = exp (2 * z) * exp (- z - z * z / 2)) as -> by (rewrite <- exp_plus; f_equal; field).
    pose proof (exp_pos (- z - z * z / 2)) as E0. enough ((1 - z) * exp (2 * z) <= 1 + z) by nra.
    (* D(z) = 1 + z - (1 - z) e^(2z) rises from D(0) = 0 *)
    set (D := fun w => 1 + w - (1 - w) * exp (2 * w)). set (D' := fun w => 1 - (-1 * exp (2 * w) + (1 - w) * (exp (2 * w) * 2))).
    assert (forall w, derivable_pt_lim D w (D' w)) as DD.
    { intro w. unfold D, D'. apply (derivable_pt_lim_minus (fun w => 1 + w) (fun w => (1 - w) * exp (2 * w))).
      - assert (derivable_pt_lim (fun w => 1 + w) w (0 + 1)) as A by (apply (derivable_pt_lim_plus (fun _ => 1) id); [apply derivable_pt_lim_const | apply derivable_pt_lim_id]).
        now rewrite Rplus_0_l in A.
      - apply (derivable_pt_lim_mult (fun w => 1 - w) (fun w => exp (2 * w))).
        + replace (-1) with (0 - 1) by ring. apply (derivable_pt_lim_minus (fun _ => 1) id); [apply derivable_pt_lim_const | apply derivable_pt_lim_id].
        + apply (derivable_pt_lim_comp (fun w => 2 * w) exp); [|apply derivable_pt_lim_exp].
          assert (derivable_pt_lim (fun w => 2 * w) w (2 * 1)) as A by (apply (derivable_pt_lim_scal id 2); apply derivable_pt_lim_id).
          now rewrite Rmult_1_r in A. }
    assert (0 < z) as Hz by lra. destruct (MVT_cor2 D D' 0 z Hz (fun w _ => DD w)) as [w [ED [W1 W2]]].
    assert (0 <= D' w) as ND.
    { unfold D'. pose proof (exp_ineq1_le (- (2 * w))) as I. rewrite exp_Ropp in I. pose proof (exp_pos (2 * w)) as E1.
      apply (Rmult_le_compat_r (exp (2 * w))) in I; [|lra]. rewrite Rinv_l in I by lra. lra. }
    assert (D 0 = 0) as D0 by (unfold D; rewrite Rmult_0_r, exp_0; ring).
    assert (0 <= D z) as Dz by nra. unfold D in Dz. lra. }
  assert (F y <= F x) by nra. exact H.
Qed.

(* (epsilon, 0)-DP is epsilon^2/2-zCDP (Bun, Steinke 2016). *)
Theorem pure_zcdp eps a Y P Q : 0 <= eps -> 1 < a -> complete P -> complete Q -> approximate eps 0 Y P Q ->
  moment_bounded a ((a - 1) * (a * (eps * eps / 2))) Y P Q.
Proof.
  intros [Heps| <-] Ha HP HQ H; [|replace ((a - 1) * (a * (0 * 0 / 2))) with ((a - 1) * 0) by (unfold Rdiv; ring); now apply pure_moment].
  intros h Ph Qh. pose proof (pw_test a Ha P h HP Ph) as TP. pose proof (pw_test a Ha Q h HQ Qh) as TQ. split; [exact TP|].
  pose proof (truth_above_lie eps Heps) as [L0 L1]. set (A := part eps Heps P Q H). set (B := part eps Heps Q P (approximate_swap eps Y P Q H)).
  assert (forall f, test P f -> test Q f -> test A f /\ test B f) as TA.
  { intros f [Pf Bf] [Qf _]. assert (exists M, forall o, Rabs (f o) <= M) as M by (exists 1; intro o; specialize (Bf o); rewrite Rabs_pos_eq; lra).
    split; split; auto; split; auto; split; assumption. }
  set (t := truth eps) in *. set (l := lie eps) in *.
  assert (forall f, mean P f = t * mean A f + l * mean B f /\ mean Q f = l * mean A f + t * mean B f) as Mix.
  { intro f. unfold A, B. rewrite !part_mean. fold t l. pose proof (truth_lie eps) as S1. fold t l in S1. assert (l = 1 - t) as -> by lra. split; field; lra. }
  destruct (TA _ TP TQ) as [TpA TpB]. destruct (TA h Ph Qh) as [ThA ThB].
  pose proof (jensen a Ha A h ThA (proj1 TpA)) as JA. pose proof (jensen a Ha B h ThB (proj1 TpB)) as JB.
  destruct (Mix (fun o => pw (b a) (h o))) as [-> _]. destruct (Mix h) as [_ ->].
  destruct (mean_bounds A h ThA) as [UA _]. destruct (mean_bounds B h ThB) as [UB _].
  apply Rle_trans with (t * pw (b a) (mean A h) + l * pw (b a) (mean B h)); [apply Rplus_le_compat; apply Rmult_le_compat_l; lra|].
  eapply Rle_trans; [apply (hoelder a t l (mean A h) (mean B h) Ha); lra|]. apply Rmult_le_compat_r; [apply pw_nonneg|]. apply exp_le.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. set (m := (a - 1) * (a * (eps * eps / 2))).
  rewrite <- (ln_exp m). assert (exp (a * ln t + (1 - a) * ln l) + exp (a * ln l + (1 - a) * ln t) <= exp m) as K.
  - assert (ln t = eps + ln l) as ->.
    { unfold t. rewrite truth_is_exp_lie. fold l. rewrite ln_mult, ln_exp by (apply exp_pos || lra). reflexivity. }
    pose proof (bells_fall (eps / 2) ((a - 1 / 2) * eps) ltac:(nra)) as F. set (x := eps / 2) in *. set (y := (a - 1 / 2) * eps) in *.
    (* l (e^(a eps) + e^((1 - a) eps)), and l = 1/(1 + e^eps) *)
    replace (a * (eps + ln l) + (1 - a) * ln l) with (ln l + (x + y)) by (unfold x, y; field).
    replace (a * ln l + (1 - a) * (eps + ln l)) with (ln l + (x - y)) by (unfold x, y; field).
    rewrite !exp_plus, exp_ln by lra. unfold l, lie. apply Rmult_le_reg_l with (1 + exp eps); [pose proof (exp_pos eps); lra|].
    pose proof (exp_pos eps). rewrite Rmult_plus_distr_l, <- !Rmult_assoc, Rinv_r, !Rmult_1_l by lra.
    assert (m = y * y / 2 - x * x / 2) as -> by (unfold m, x, y; field).
    replace (x - y) with (x + - y) by ring. rewrite <- !exp_plus.
    apply Rmult_le_reg_r with (exp (- x - y * y / 2)); [apply exp_pos|].
    rewrite !Rmult_plus_distr_r, Rmult_1_l, <- !exp_plus.
    replace (x + y + (- x - y * y / 2)) with (y - y * y / 2) by ring. replace (x + - y + (- x - y * y / 2)) with (- y - y * y / 2) by ring.
    replace (y * y / 2 - x * x / 2 + (- x - y * y / 2)) with (- x - x * x / 2) by ring.
    replace (eps + (y * y / 2 - x * x / 2) + (- x - y * y / 2)) with (x - x * x / 2) by (unfold x; field). lra.
  - assert (0 < exp (a * ln t + (1 - a) * ln l) + exp (a * ln l + (1 - a) * ln t)) as Pos
      by (pose proof (exp_pos (a * ln t + (1 - a) * ln l)); pose proof (exp_pos (a * ln l + (1 - a) * ln t)); lra).
    destruct K as [K| ->]; [left; now apply ln_increasing | lra].
Qed.

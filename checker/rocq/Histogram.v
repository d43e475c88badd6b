(* The sparse histogram with discrete Gaussian noise (GSHM): noise on each non-zero count, and only counts above 1 + tau are shown.

   A user has up to k counters. Those that others have as well move by at most 1; a counter that only this user has is 1, and without the
   user the key is hidden. Seeing the noisy count of a shared key costs a divergence, a fresh key is shown with a small probability. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool Permutation FunctionalExtensionality.
From Coquelicot Require Import Rcomplements.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Basic Fixed Exponential Logarithm Above Tops Noise NoiseTop Theta Renyi Moments Bounds Checker Outcomes Claims.
Open Scope R_scope.

(* Divergences beside probabilities ------------------------------------------------------------------------------------- *)

(* No test gains more than d. *)
Definition leaks (d : R) : class := fun Y P Q =>
  complete P /\ complete Q /\ forall f, test P f -> test Q f -> mean P f <= mean Q f + d.

(* Each step has a divergence of order a with (a - 1) R = m, or leaks d. *)
Definition costs_at_most (a : R) (c : R * R) (C : class) : Prop :=
  forall Y P Q, C Y P Q -> moment_bounded a (fst c) Y P Q \/ leaks (snd c) Y P Q.

Theorem moments_beside_leaks a cs Cs : 1 < a -> Forall (fun c => 0 <= fst c /\ 0 <= snd c) cs -> Forall2 (costs_at_most a) cs Cs ->
  forall s, spends Cs s -> forall f, decision s f ->
  mean_first s f <= exp (sum fst cs / a) * pw (b a) (mean_second s f) + sum snd cs.
Proof.
  intros Ha Hc HC s. revert cs Cs Hc HC. pose proof (b_bounds a Ha) as Hb. induction s as [|Y P Q next IH]; intros cs Cs Hc HC Hs f Hf.
  - simpl in *. assert (0 <= sum fst cs /\ 0 <= sum snd cs) as [H0 H1] by (clear - Hc; induction Hc as [|c l [C1 C2] _ [I1 I2]]; simpl; lra).
    pose proof (exp_moment a Ha _ H0). pose proof (pw_nonneg (b a) (f tt)).
    assert (f tt <= pw (b a) (f tt)) as H3.
    { unfold pw. destruct (Rlt_dec 0 (f tt)) as [Hp|]; [|lra]. rewrite <- (exp_ln (f tt)) at 1 by assumption. apply exp_le.
      assert (ln (f tt) <= 0) by (rewrite <- ln_1; destruct (proj2 Hf) as [L| ->]; [left; now apply ln_increasing | lra]). nra. }
    nra.
  - destruct Hs as [C [rest [Hp [HPQ Hn]]]]. destruct (Forall2_permutation (costs_at_most a) _ _ Hp _ HC) as [cs' [Hp' HC']].
    inversion HC' as [|[m d] ? more ? Hcost Hmore]; subst. rewrite (sum_permutation fst _ _ Hp'), (sum_permutation snd _ _ Hp'). simpl.
    assert (Forall (fun c => 0 <= fst c /\ 0 <= snd c) ((m, d) :: more)) as Hall by (eapply Permutation_Forall; eassumption).
    inversion Hall as [|? ? [M0 D0] Hmore0]; subst. simpl in M0, D0. destruct Hf as [Hd [M1 [M2 M3]]].
    set (g := fun o => mean_first (next o) (fun t => f (existT _ o t))) in *.
    set (h := fun o => mean_second (next o) (fun t => f (existT _ o t))) in *.
    assert (forall o, 0 <= h o <= 1) as Hh by (intro o; apply mean_second_bounds, Hd).
    assert (forall o, g o <= 1) as Hg1 by (intro o; apply mean_first_bounds, Hd).
    set (E := exp (sum fst more / a)). set (D := sum snd more).
    assert (0 <= sum fst more /\ 0 <= D) as [S0 SD] by (unfold D; clear - Hmore0; induction Hmore0 as [|c l [C1 C2] _ [I1 I2]]; simpl; lra).
    assert (0 < E) by apply exp_pos. pose proof (pw_nonneg (b a) (mean Q h)) as N.
    assert (forall o, g o <= E * pw (b a) (h o) + D) as Hg by (intro o; apply (IH o more rest Hmore0 Hmore (Hn o) _ (Hd o))).
    change (mean P g <= exp ((m + sum fst more) / a) * pw (b a) (mean Q h) + (d + D)).
    replace ((m + sum fst more) / a) with (m / a + sum fst more / a) by (field; lra). rewrite exp_plus. fold E.
    pose proof (exp_moment a Ha m M0) as Em. set (em := exp (m / a)) in *.
    destruct (Hcost Y P Q HPQ) as [B|[CP [CQ B]]].
    + destruct (B h (conj M2 Hh) (conj M3 Hh)) as [T1 T2]. simpl in T2. fold em in T2.
      assert (mean P g <= E * mean P (fun o => pw (b a) (h o)) + D) as G.
      { rewrite <- (mean_const P D), <- mean_scale by apply T1. rewrite <- (mean_plus P (fun o => E * pw (b a) (h o))) by first [apply measurable_const | apply measurable_scale, T1].
        apply mean_le; [exact M1 | apply (measurable_plus P (fun o => E * pw (b a) (h o))); [apply measurable_scale, T1 | apply measurable_const] | exact Hg]. }
      nra.
    + set (t := fun o => Rmin 1 (E * pw (b a) (h o))).
      assert (forall o, 0 <= t o <= 1) as Bt.
      { intro o. unfold t. pose proof (pw_nonneg (b a) (h o)). split; [apply Rmin_glb; [lra | apply Rmult_le_pos; lra] | apply Rmin_l]. }
      pose proof (B t (conj (CP t Bt) Bt) (conj (CQ t Bt) Bt)) as L. simpl in L.
      assert (mean P g <= mean P t + D) as G1.
      { rewrite <- (mean_const P D), <- (mean_plus P t) by first [apply measurable_const | now apply CP].
        apply mean_le; [exact M1 | apply (measurable_plus P t); [now apply CP | apply measurable_const]|].
        intro o. specialize (Hg o). specialize (Hg1 o). unfold t, Rmin. destruct (Rle_dec 1 (E * pw (b a) (h o))); lra. }
      pose proof (pw_test a Ha Q h CQ (conj M3 Hh)) as Tp.
      assert (mean Q t <= E * mean Q (fun o => pw (b a) (h o))) as G2.
      { rewrite <- mean_scale by apply Tp. apply mean_le; [now apply CQ | apply measurable_scale, Tp | intro o; apply Rmin_r]. }
      pose proof (jensen a Ha Q h (conj M3 Hh) (proj1 Tp)) as J.
      apply (Rmult_le_compat_l E) in J; [|lra].
      assert (1 * (E * pw (b a) (mean Q h)) <= em * (E * pw (b a) (mean Q h))) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]). lra.
Qed.

(* The keys of one user ------------------------------------------------------------------------------------------------- *)

Section Keys.
Variables (num den : positive).  (* noise e^(-num/den z^2) *)
Variable tau : Z.
Hypothesis tau_nonneg : (0 <= tau)%Z.
Let rate := noise_rate num den.
Let rate_pos := noise_rate_pos num den.
Let count (v : Z) : law Z := noisy true rate rate_pos v.

Definition shown (z : Z) : option Z := if (1 + tau <? z)%Z then Some z else None.
Definition hidden : law (option Z) := image (fun _ => None) (count 0).

Inductive shared_key : class :=
| is_shared (v w : Z) : (Z.abs (v - w) <= 1)%Z -> shared_key (option Z) (image shown (count v)) (image shown (count w)).
Inductive fresh_key : class := is_fresh : fresh_key (option Z) (image shown (count 1)) hidden.

(* A user with k counters, of which j are shared; the keys are seen one after the other, in any order. *)
Definition keys (j r : nat) : list class := repeat shared_key j ++ repeat fresh_key r.
Definition histogram_private (k : nat) (epsilon delta : R) : Prop :=
  forall j r, (j + r <= k)%nat -> forall s, spends (keys j r) s \/ spends (map reversed (keys j r)) s ->
  forall f, decision s f -> mean_first s f - exp epsilon * mean_second s f <= delta.

(* The probability that a count of 1 is shown. *)
Definition leak : R := total (fun z => noise true rate rate_pos z * (if (tau <? z)%Z then 1 else 0)).

Lemma map_repeat {A B} (g : A -> B) x n : map g (repeat x n) = repeat (g x) n.
Proof. induction n; simpl; congruence. Qed.

Lemma complete_image {O T} (g : O -> T) (P : law O) : complete P -> complete (image g P).
Proof. intros H h Hh. apply H. intro o. apply Hh. Qed.

Lemma shared_moment a Y P Q : 1 < a -> shared_key Y P Q -> moment_bounded a ((a - 1) * (a * rate)) Y P Q.
Proof.
  intros Ha [v w H] h Ph Qh.
  pose proof (gaussian_moment rate rate_pos a Ha 1 Z (count v) (count w) (is_moved true rate rate_pos 1 v w H)) as G.
  rewrite Rmult_1_r in G. destruct (G (fun z => h (shown z))) as [[T1 T2] T3].
  - destruct Ph as [M B]. split; [exact M | intro; apply B].
  - destruct Qh as [M B]. split; [exact M | intro; apply B].
  - split; [split; [exact T1 | intro o; split; [apply pw_nonneg | apply pw_le_1; [destruct (b_bounds a Ha); lra | apply Ph]]] | exact T3].
Qed.

Lemma fresh_mean f : (forall o, 0 <= f o <= 1) -> Rabs (mean (image shown (count 1)) f - f None) <= leak.
Proof.
  intro Hf. change (mean (image shown (count 1)) f) with (total (fun z => noise true rate rate_pos z * f (shown (1 + z)))).
  set (p := noise true rate rate_pos). assert (f None = total (fun z => p z * f None)) as E.
  { replace (fun z => p z * f None) with (fun z => f None * p z) by (extensionality z; ring). rewrite total_scale, mass_total. ring. }
  assert (summable (fun z => p z * f (shown (1 + z)))) as S1 by (apply (summable_mass p (fun z => f (shown (1 + z)%Z))); exists 1; intro z; rewrite Rabs_pos_eq; apply Hf).
  assert (summable (fun z => p z * f None)) as S2 by (apply (summable_mass p (fun _ => f None)); exists 1; intro z; rewrite Rabs_pos_eq; apply Hf).
  assert (summable (fun z => p z * (if (tau <? z)%Z then 1 else 0))) as S3.
  { apply (summable_mass p (fun z => if (tau <? z)%Z then 1 else 0)). exists 1. intro z. destruct (tau <? z)%Z; rewrite Rabs_pos_eq; lra. }
  assert (forall z, Rabs (f (shown (1 + z)) - f None) <= if (tau <? z)%Z then 1 else 0) as B.
  { intro z. unfold shown. destruct (Z.ltb_spec (1 + tau) (1 + z)), (Z.ltb_spec tau z); try lia.
    - pose proof (Hf (Some (1 + z)%Z)). pose proof (Hf None). apply Rabs_le. lra.
    - unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra. }
  rewrite E at 1. unfold leak. fold p. apply Rabs_le. split.
  - enough (total (fun z => p z * f None) <= total (fun z => p z * f (shown (1 + z)) + p z * (if (tau <? z)%Z then 1 else 0))) as L
      by (rewrite total_plus in L by assumption; lra).
    apply total_le; [assumption | now apply summable_plus |]. intro z. specialize (B z). pose proof (mass_nonneg p z). apply Rabs_le_between in B. nra.
  - enough (total (fun z => p z * f (shown (1 + z))) <= total (fun z => p z * f None + p z * (if (tau <? z)%Z then 1 else 0))) as L
      by (rewrite total_plus in L by assumption; lra).
    apply total_le; [assumption | now apply summable_plus |]. intro z. specialize (B z). pose proof (mass_nonneg p z). apply Rabs_le_between in B. nra.
Qed.

Lemma fresh_leaks Y P Q : fresh_key Y P Q -> leaks leak Y P Q /\ leaks leak Y Q P.
Proof.
  intros [ ]. assert (complete (image shown (count 1)) /\ complete hidden) as [C1 C2] by (split; apply complete_image, noisy_complete).
  assert (forall f : option Z -> R, mean hidden f = f None) as H by (intro f; exact (mean_const (count 0) (f None))).
  split; split; auto; split; auto; intros f [_ F1] _; rewrite H; pose proof (fresh_mean f F1) as B; apply Rabs_le_between in B; lra.
Qed.

Lemma leak_nonneg : 0 <= leak.
Proof.
  apply total_nonneg.
  - apply (summable_mass (noise true rate rate_pos) (fun z => if (tau <? z)%Z then 1 else 0)). exists 1. intro z. destruct (tau <? z)%Z; rewrite Rabs_pos_eq; lra.
  - intro z. pose proof (mass_nonneg (noise true rate rate_pos) z). destruct (tau <? z)%Z; nra.
Qed.

(* In each block of m integers the last weight is the least. *)
Definition blocks (m : positive) (n : nat) : R := 2 * IZR (Zpos m) * sum (fun i => weight true rate (Zpos m * Z.of_nat i)) (seq 1 n).
Lemma blocks_le m n : blocks m n <= mass_of_all true rate.
Proof.
  set (w := weight true rate). set (M := Pos.to_nat m).
  assert (INR M * sum (fun i => w (Zpos m * Z.of_nat i)%Z) (seq 1 n) <= sum (fun i => w (Z.of_nat i)) (seq 1 (n * M))) as B.
  { induction n as [|n IH]; [simpl; lra|]. rewrite (seq_S n 1), sum_app. replace (S n * M)%nat with (n * M + M)%nat by lia.
    rewrite seq_app, sum_app, Rmult_plus_distr_l. apply Rplus_le_compat; [exact IH|]. cbn [sum]. rewrite Rplus_0_r.
    assert (forall l, (forall z, In z l -> (z <= S n * M)%nat) -> INR (length l) * w (Zpos m * Z.of_nat (1 + n))%Z <= sum (fun i => w (Z.of_nat i)) l) as G.
    { induction l as [|z l IHl]; intro H; [simpl; lra|]. cbn [length sum]. rewrite S_INR. specialize (IHl (fun y Hy => H y (or_intror Hy))).
      assert (w (Zpos m * Z.of_nat (1 + n))%Z <= w (Z.of_nat z)) as L.
      { apply weight_le; [exact rate_pos|]. specialize (H z (or_introl eq_refl)). unfold exponent.
        apply Nat2Z.inj_le in H. rewrite Nat2Z.inj_mul in H. unfold M in H. rewrite positive_nat_Z in H.
        change (1 + n)%nat with (S n). rewrite (Z.mul_comm (Zpos m)). nia. }
      lra. }
    pose proof (G (seq (1 + n * M) M)) as G'. rewrite seq_length in G'. apply G'. intros z Hz. apply in_seq in Hz. lia. }
  set (l := map Z.of_nat (seq 1 (n * M)) ++ map (fun i => - Z.of_nat i)%Z (seq 1 (n * M))).
  assert (NoDup l) as Hl.
  { apply nodup_app; try (apply FinFun.Injective_map_NoDup; [intros i j E; lia | apply seq_NoDup]).
    intros z Hz Hz'. apply in_map_iff in Hz, Hz'. destruct Hz as [i [Ei Hi]]. destruct Hz' as [j [Ej Hj]]. apply in_seq in Hi. lia. }
  destruct (total_points l w) as [S1 T1]. apply Rle_trans with (sum w l).
  - unfold l, blocks. rewrite sum_app, !sum_map. fold w.
    rewrite (sum_ext (fun i => w (- Z.of_nat i)%Z) (fun i => w (Z.of_nat i))) by (intros; apply weight_even).
    unfold M in B. rewrite INR_IZR_INZ, positive_nat_Z in B. fold M in B. lra.
  - rewrite <- T1. apply total_le; [exact S1 | apply weight_summable, rate_pos|]. intro z. rewrite at_points_in by exact Hl.
    pose proof (weight_pos true rate z). unfold w. destruct (in_dec Z.eq_dec z l); lra.
Qed.

(* The weights beyond tau fall at least as a geometric series. *)
Lemma leak_bound S : 0 < S -> S <= mass_of_all true rate ->
  leak <= weight true rate (tau + 1) * (1 / (1 - fall true rate (tau + 1))) / S.
Proof.
  intros P0 P1.
  pose proof (fall_bounds true rate rate_pos (tau + 1) ltac:(lia)) as F. destruct (geometric_total _ F) as [G1 G2].
  destruct (shift_total _ (tau + 1) G1) as [S1 S2]. cbn beta in S1, S2. rewrite G2 in S2.
  pose proof (weight_pos true rate (tau + 1)) as W.
  assert (leak <= / mass_of_all true rate * (weight true rate (tau + 1) * / (1 - fall true rate (tau + 1)))) as L.
  { unfold leak. rewrite <- S2, <- !total_scale. apply total_le.
    - apply (summable_mass (noise true rate rate_pos) (fun z => if (tau <? z)%Z then 1 else 0)). exists 1. intro z. destruct (tau <? z)%Z; rewrite Rabs_pos_eq; lra.
    - now apply summable_scale, summable_scale.
    - intro z. rewrite noise_weight. rewrite Rmult_assoc. assert (0 < / mass_of_all true rate) by (apply Rinv_0_lt_compat; lra).
      apply Rmult_le_compat_l; [lra|]. unfold geometric. destruct (Z.ltb_spec tau z), (Z.leb_spec 0 (z - (tau + 1))); try lia.
      + rewrite Rmult_1_r. pose proof (weight_geometric true rate rate_pos (tau + 1) (Z.to_nat (z - (tau + 1))) ltac:(lia)) as G.
        now replace (tau + 1 + Z.of_nat (Z.to_nat (z - (tau + 1))))%Z with z in G by lia.
      + lra. }
  eapply Rle_trans; [exact L|]. unfold Rdiv. rewrite Rmult_1_l, (Rmult_comm (/ mass_of_all true rate)).
  apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] | now apply Rinv_le_contravar].
Qed.

(* The deltas of a case add up: that of the noise on j shared keys, and r leaks. *)
Theorem histogram_case a j r s f epsilon : 1 < a -> spends (keys j r) s \/ spends (map reversed (keys j r)) s -> decision s f ->
  mean_first s f - exp epsilon * mean_second s f <= delta_of a (INR j * ((a - 1) * (a * rate))) epsilon + INR r * leak.
Proof.
  intros Ha Hs Hf. set (m := (a - 1) * (a * rate)). assert (0 <= m) as Hm by (unfold m; apply Rmult_le_pos; [lra|]; apply Rmult_le_pos; [lra | left; apply rate_pos]).
  set (cs := repeat (m, 0) j ++ repeat (0, leak) r). pose proof leak_nonneg as L0.
  assert (Forall (fun c => 0 <= fst c /\ 0 <= snd c) cs) as Hc.
  { apply Forall_app. split; apply Forall_forall; intros c H; apply repeat_spec in H; subst c; simpl; lra. }
  assert (forall C : class, (C = shared_key \/ C = reversed shared_key) -> costs_at_most a (m, 0) C) as Sh.
  { intros C HC Y P Q H. left. apply shared_moment; [exact Ha|]. destruct HC as [-> | ->]; [exact H|].
    destruct H as [v w H]. constructor. lia. }
  assert (forall C : class, (C = fresh_key \/ C = reversed fresh_key) -> costs_at_most a (0, leak) C) as Fr.
  { intros C HC Y P Q H. right. destruct HC as [-> | ->]; [apply (fresh_leaks Y P Q H) | apply (fresh_leaks Y Q P H)]. }
  assert (forall (A B : class), (A = shared_key \/ A = reversed shared_key) -> (B = fresh_key \/ B = reversed fresh_key) ->
    Forall2 (costs_at_most a) cs (repeat A j ++ repeat B r)) as HC.
  { intros A B HA HB. apply Forall2_app; [pose proof (Sh A HA) as H | pose proof (Fr B HB) as H]; clear - H; [induction j | induction r]; simpl; constructor; auto. }
  assert (sum fst cs = INR j * m /\ sum snd cs = INR r * leak) as [S1 S2].
  { unfold cs. rewrite !sum_app. assert (forall c n, sum fst (repeat c n) = INR n * fst c /\ sum snd (repeat c n) = INR n * snd c) as G.
    { intros c n. induction n as [|n [I1 I2]]; [simpl; lra|]. rewrite S_INR. simpl. lra. }
    rewrite !(proj1 (G _ _)), !(proj2 (G _ _)). cbn [fst snd]. split; ring. }
  assert (mean_first s f <= exp (INR j * m / a) * pw (b a) (mean_second s f) + INR r * leak) as B.
  { rewrite <- S1, <- S2. destruct Hs as [Hs|Hs].
    - apply (moments_beside_leaks a cs (keys j r) Ha Hc); [apply HC; now left | exact Hs | exact Hf].
    - unfold keys in Hs. rewrite map_app, !map_repeat in Hs.
      apply (moments_beside_leaks a cs (repeat (reversed shared_key) j ++ repeat (reversed fresh_key) r) Ha Hc); [apply HC; now right | exact Hs | exact Hf]. }
  pose proof (delta_from_renyi a Ha (INR j * m) epsilon (mean_first s f - INR r * leak) (mean_second s f) (proj1 (mean_second_bounds s f Hf)) ltac:(lra)). lra.
Qed.
End Keys.

(* Computed: the cases j = 0, ..., k in blocks, each with an order of its own ---------------------------------------------- *)

Section Computed.
Variable p : positive.
Variables (num den : positive).
Variables (k tau : Z) (eps bound : Q).
Let rho : Q := Qmake (Zpos num) den.  (* of one key: 1/(2 sigma^2) *)

Definition block_ends (m : positive) (n : nat) : ends :=
  times p (whole p (2 * Zpos m)) (sum_ends p (map (fun i => decay p num den (exponent true (Zpos m * Z.of_nat i))) (seq 1 n))).
Definition leak_ends (m : positive) (n : nat) : ends :=
  let c := (tau + 1)%Z in
  over p (times p (decay p num den (exponent true c))
            (over p (whole p 1) (minus (whole p 1) (decay p num den (exponent true (c + 1) - exponent true c)))))
    (block_ends m n).

Fixpoint cases_hold (leak : ends) (from : Z) (cases : list (Z * Q)) : bool :=
  match cases with
  | [] => (k <? from)%Z
  | (last, a) :: rest =>
      negb (Qle_bool a 1) && (0 <=? last)%Z
      && at_most p (plus (delta_ends p a (inject_Z last * (a * rho))%Q eps) (times p (whole p (Z.max 0 (k - from))) leak)) bound
      && cases_hold leak (last + 1) rest
  end.
Definition histogram_rule (m : positive) (n : nat) (cases : list (Z * Q)) : bool :=
  (0 <=? tau)%Z && (0 <=? k)%Z && (0 <? n)%nat && cases_hold (leak_ends m n) 0 cases.

Lemma leak_ends_hold m n : (0 <= tau)%Z -> (0 < n)%nat -> exists l, holds p (leak_ends m n) l /\ leak num den tau <= l.
Proof.
  intros Ht Hn. eexists. split; [|apply (leak_bound num den tau Ht (blocks num den m n)); [|apply blocks_le]].
  - apply over_holds.
    + apply times_holds; [apply decay_holds|].
      apply over_holds; [apply (whole_holds p 1)|]. apply minus_holds; [apply (whole_holds p 1) | apply decay_holds].
    + unfold block_ends, blocks. rewrite <- mult_IZR. apply times_holds; [apply whole_holds|].
      pose proof (sum_ends_holds p (map (fun i => decay p num den (exponent true (Zpos m * Z.of_nat i))) (seq 1 n))
        (map (fun i => weight true (noise_rate num den) (Zpos m * Z.of_nat i)) (seq 1 n))) as S. rewrite sum_map in S. apply S.
      clear. induction (seq 1 n); simpl; constructor; [apply decay_holds | assumption].
  - unfold blocks. destruct n as [|n]; [lia|]. simpl seq. cbn [sum]. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [lra | now apply IZR_lt]|].
    apply Rplus_lt_le_0_compat; [apply weight_pos|]. apply sum_nonneg. intros. left. apply weight_pos.
Qed.

Lemma delta_of_le a m n e : m <= n -> 1 < a -> delta_of a m e <= delta_of a n e.
Proof.
  intros H Ha. unfold delta_of. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply exp_le. lra.
Qed.

Lemma cases_sound leak_e l : holds p leak_e l -> leak num den tau <= l -> forall cases from, (0 <= from)%Z -> cases_hold leak_e from cases = true ->
  forall j r, (from <= Z.of_nat j)%Z -> (Z.of_nat j + Z.of_nat r <= k)%Z ->
  forall s, spends (keys num den tau j r) s \/ spends (map reversed (keys num den tau j r)) s ->
  forall f, decision s f -> mean_first s f - exp (Q2R eps) * mean_second s f <= Q2R bound.
Proof.
  intros Hl Hll. induction cases as [|[last a] rest IH]; intros from H0 H j r Hj Hk s Hs f Hf; simpl in H.
  - apply Z.ltb_lt in H. lia.
  - rewrite !andb_true_iff, negb_true_iff, Z.leb_le in H. destruct H as [[[Ha Hlast] Hb] Hr].
    destruct (Z.le_gt_cases (Z.of_nat j) last) as [L|L]; [|apply (IH (last + 1)%Z ltac:(lia) Hr j r ltac:(lia) Hk s Hs f Hf)].
    apply one_below in Ha. eapply Rle_trans; [apply (histogram_case num den tau (Q2R a) j r s f (Q2R eps) Ha Hs Hf)|].
    pose proof (at_most_sound p _ _ _ (plus_holds p _ _ _ _ (delta_ends_hold p a (inject_Z last * (a * rho))%Q eps Ha)
      (times_holds p _ _ _ _ (whole_holds p (Z.max 0 (k - from))) Hl)) Hb) as B.
    eapply Rle_trans; [|exact B]. apply Rplus_le_compat.
    + apply delta_of_le; [|exact Ha]. rewrite !Q2R_mult.
      assert (Q2R (inject_Z last) = IZR last) as -> by (unfold Q2R; simpl; lra).
      assert (Q2R rho = noise_rate num den) as -> by reflexivity. rewrite INR_IZR_INZ. apply IZR_le in L.
      pose proof (noise_rate_pos num den). assert (0 <= (Q2R a - 1) * (Q2R a * noise_rate num den)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
      replace ((Q2R a - 1) * (IZR last * (Q2R a * noise_rate num den))) with (IZR last * ((Q2R a - 1) * (Q2R a * noise_rate num den))) by ring.
      now apply Rmult_le_compat_r.
    + rewrite INR_IZR_INZ. pose proof (leak_nonneg num den tau). assert (0 <= IZR (Z.of_nat r)) by (apply IZR_le; lia).
      assert (IZR (Z.of_nat r) <= IZR (Z.max 0 (k - from))) by (apply IZR_le; lia). apply Rmult_le_compat; lra.
Qed.

Theorem histogram_by_cases m n cases : histogram_rule m n cases = true -> histogram_private num den tau (Z.to_nat k) (Q2R eps) (Q2R bound).
Proof.
  unfold histogram_rule. rewrite !andb_true_iff, !Z.leb_le, Nat.ltb_lt. intros [[[Ht Hk0] Hn] H].
  destruct (leak_ends_hold m n Ht Hn) as [l [L1 L2]].
  intros j r Hk s Hs f Hf. apply (cases_sound _ l L1 L2 cases 0 ltac:(lia) H j r); auto; lia.
Qed.
End Computed.

(* README's question, for discrete noise: users with up to 51914 counters, epsilon = 0.35, delta = 1e-5. sigma = 2440 and tau = 15300 are enough. *)
Theorem readme_histogram : histogram_private 1 (2 * 2440 * 2440) 15300 (Z.to_nat 51914) (Q2R (7 # 20)) (Q2R (1 # 100000)).
Proof.
  apply (histogram_by_cases 64 1 (2 * 2440 * 2440) 51914 15300 (7 # 20) (1 # 100000) 60 160
    [(31427%Z, 139 # 2); (49226%Z, 91 # 2); (51914%Z, 87 # 2)]).
  vm_cast_no_check (eq_refl true).
Qed.

(* Basic composition: epsilons and deltas add up. *)
From Coq Require Import Reals Lra Lia List Permutation ZArith FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Sampling Finite.
Open Scope R_scope.

(* A promise: any mechanism that is (epsilon, delta)-DP in both orders, for all tests. *)
Definition approximate (eps delta : R) : class := fun Y P Q =>
  forall f, test P f -> test Q f ->
  mean P f <= exp eps * mean Q f + delta /\ mean Q f <= exp eps * mean P f + delta.

(* Every test is the mean of events, where all of its level sets are events: so events decide. *)
Definition level {O} (f : O -> R) (n k : nat) (o : O) : bool :=
  if Rle_dec (INR (S k) / INR n) (f o) then true else false.

Lemma staircase n (v : R) : (0 < n)%nat -> 0 <= v <= 1 ->
  let steps := sum (fun k => if Rle_dec (INR (S k) / INR n) v then 1 else 0) (seq 0 n) in
  steps / INR n <= v <= steps / INR n + / INR n.
Proof.
  intros Hn Hv steps. assert (0 < INR n) as Hn' by now apply lt_0_INR.
  enough (forall m, (m <= n)%nat ->
    let s := sum (fun k => if Rle_dec (INR (S k) / INR n) v then 1 else 0) (seq 0 m) in
    s <= v * INR n /\ (s = INR m \/ v * INR n < s + 1)) as G.
  { destruct (G n (Nat.le_refl n)) as [G1 G2]. fold steps in G1, G2. split.
    - apply Rmult_le_reg_r with (INR n); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
    - apply Rmult_le_reg_r with (INR n); [assumption|]. rewrite Rmult_plus_distr_r. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. destruct G2 as [->|]; nra. }
  induction m as [|m IH]; intros Hm s.
  - unfold s. simpl. split; [nra | left; reflexivity].
  - destruct (IH ltac:(lia)) as [H1 H2]. unfold s. rewrite seq_S, sum_app. cbn [sum]. rewrite Nat.add_0_l.
    set (t := sum _ (seq 0 m)) in *. destruct (Rle_dec (INR (S m) / INR n) v) as [L|L].
    + assert (INR (S m) <= v * INR n) as L' by (apply (Rmult_le_compat_r (INR n)) in L; [|lra]; unfold Rdiv in L; rewrite Rmult_assoc, Rinv_l in L; lra).
      assert (t <= INR m).
      { clear. unfold t. clear t. induction m; [simpl; lra|]. rewrite seq_S, sum_app, S_INR. cbn [sum]. destruct (Rle_dec _ _); lra. }
      rewrite (S_INR m) in L' |- *. destruct H2 as [H2|H2]; [|exfalso; lra]. split; [lra | left; lra].
    + assert (v * INR n < INR (S m)) as L' by (apply Rnot_le_lt in L; apply (Rmult_lt_compat_r (INR n)) in L; [|lra]; unfold Rdiv in L; rewrite Rmult_assoc, Rinv_l in L; lra).
      rewrite S_INR in L'. split; [lra|]. right. destruct H2 as [H2|H2]; lra.
Qed.

Theorem events_decide {O} eps delta (P Q : law O) f :
  (forall S, measurable P (indicator S)) -> (forall S, measurable Q (indicator S)) ->
  dp eps delta P Q -> test P f -> test Q f -> mean P f <= exp eps * mean Q f + delta.
Proof.
  intros HP HQ H [Pf Bf] [Qf _]. pose proof (exp_pos eps) as He.
  assert (forall n, (0 < n)%nat -> mean P f <= exp eps * mean Q f + delta + / INR n) as G.
  { intros n Hn. assert (0 < INR n) as Hn' by now apply lt_0_INR.
    set (stairs := fun o => sum (fun k => indicator (level f n k) o) (seq 0 n)).
    assert (forall l (R0 : law O), (forall S, measurable R0 (indicator S)) ->
      measurable R0 (fun o => sum (fun k => indicator (level f n k) o) l)
      /\ mean R0 (fun o => sum (fun k => indicator (level f n k) o) l) = sum (fun k => prob R0 (level f n k)) l) as Hs.
    { intros l R0 HR. induction l as [|k l [M1 M2]]; simpl.
      - split; [apply measurable_const | apply mean_const].
      - split; [apply (measurable_plus R0 (indicator (level f n k))); auto|].
        rewrite (mean_plus R0 (indicator (level f n k))) by auto. now rewrite M2. }
    destruct (Hs (seq 0 n) P HP) as [SP EP]. destruct (Hs (seq 0 n) Q HQ) as [SQ EQ].
    assert (forall o, stairs o / INR n <= f o <= stairs o / INR n + / INR n) as B.
    { intro o. unfold stairs.
      rewrite (sum_ext (fun k => indicator (level f n k) o) (fun k => if Rle_dec (INR (S k) / INR n) (f o) then 1 else 0))
        by (intros k _; unfold indicator, level; now destruct (Rle_dec _ _)).
      exact (staircase n (f o) Hn (Bf o)). }
    assert (mean P f <= / INR n * mean P stairs + / INR n) as UP.
    { rewrite <- (mean_const P (/ INR n)) at 2. rewrite <- mean_scale, <- mean_plus by auto using measurable_const, measurable_scale.
      apply mean_le; auto. apply (measurable_plus P (fun o => / INR n * stairs o)); auto using measurable_const, measurable_scale.
      intro o. specialize (B o). unfold Rdiv in B. lra. }
    assert (/ INR n * mean Q stairs <= mean Q f) as LQ.
    { rewrite <- mean_scale by exact SQ. apply mean_le; auto using measurable_scale. intro o. specialize (B o). unfold Rdiv in B. lra. }
    assert (mean P stairs <= exp eps * mean Q stairs + INR n * delta) as HD.
    { unfold stairs. rewrite EP, EQ. rewrite <- (seq_length n 0) at 3.
      assert (forall k, prob P (level f n k) <= exp eps * prob Q (level f n k) + delta) as Hk by (intro k; now apply H).
      generalize (seq 0 n). intro l. induction l as [|k l IH]; [simpl; lra|]. cbn [sum length]. rewrite S_INR. specialize (Hk k). lra. }
    assert (0 < / INR n) by now apply Rinv_0_lt_compat.
    apply (Rmult_le_compat_l (/ INR n)) in HD; [|lra].
    replace (/ INR n * (exp eps * mean Q stairs + INR n * delta)) with (exp eps * (/ INR n * mean Q stairs) + delta) in HD by (field; lra).
    nra. }
  apply Rnot_lt_le. intro L. set (d := mean P f - (exp eps * mean Q f + delta)) in *. assert (0 < d) by (unfold d; lra).
  destruct (archimed_cor1 d H0) as [N [N1 N2]]. specialize (G N N2). unfold d in *. lra.
Qed.

(* Each class with its epsilon and delta. *)
Definition spends_at_most (c : R * R) (C : class) : Prop :=
  forall Y P Q, C Y P Q -> forall f, test P f -> test Q f -> mean P f <= exp (fst c) * mean Q f + snd c.

Theorem basic_composition costs Cs : Forall (fun c => 0 <= fst c /\ 0 <= snd c) costs -> Forall2 spends_at_most costs Cs ->
  forall s, spends Cs s -> forall f, decision s f ->
  mean_first s f <= exp (sum fst costs) * mean_second s f + sum snd costs.
Proof.
  intros Hc HC s. revert costs Cs Hc HC. induction s as [|Y P Q next IH]; intros costs Cs Hc HC Hs f Hf.
  - simpl in *. assert (0 <= sum fst costs /\ 0 <= sum snd costs) as [E D].
    { clear - Hc. induction Hc as [|c l [H1 H2] _ [IH1 IH2]]; simpl; lra. }
    assert (1 <= exp (sum fst costs)) by (rewrite <- exp_0; destruct E as [E|E]; [left; now apply exp_increasing | rewrite <- E; lra]). nra.
  - destruct Hs as [C [rest [Hp [HPQ Hn]]]]. destruct (Forall2_permutation spends_at_most _ _ Hp _ HC) as [costs' [Hp' HC']].
    inversion HC' as [|c ? more ? Hcost Hmore]; subst.
    rewrite (sum_permutation fst _ _ Hp'), (sum_permutation snd _ _ Hp'). simpl.
    assert (Forall (fun c => 0 <= fst c /\ 0 <= snd c) (c :: more)) as Hall by (eapply Permutation_Forall; eassumption).
    inversion Hall as [|? ? [C0 C1] Hmore0]; subst.
    destruct Hf as [Hd [M1 [M2 M3]]].
    set (g := fun o => mean_first (next o) (fun t => f (existT _ o t))) in *.
    set (h := fun o => mean_second (next o) (fun t => f (existT _ o t))) in *.
    assert (forall o, 0 <= h o <= 1) as Hh by (intro o; apply mean_second_bounds, Hd).
    set (E := exp (sum fst more)). set (D := sum snd more). assert (0 < E) by apply exp_pos.
    assert (forall o, g o <= E * h o + D) as Hg by (intro o; apply (IH o more rest Hmore0 Hmore (Hn o) _ (Hd o))).
    assert (forall o, g o <= 1) as Hg1.
    { intro o. apply mean_first_bounds, Hd. }
    set (t := fun o => Rmin 1 (E * h o)).
    assert (forall R0 : law Y, measurable R0 h -> test R0 t) as Ht.
    { intros R0 HR. split.
      - apply (measurable_min R0 (fun _ => 1) (fun o => E * h o)); [apply measurable_const | now apply measurable_scale].
      - intro o. unfold t. specialize (Hh o). split; [apply Rmin_glb; nra | apply Rmin_l]. }
    assert (0 <= D) by (unfold D; clear - Hmore0; induction Hmore0 as [|? ? [? ?]]; simpl; lra).
    assert (mean P g <= mean P t + D) as G1.
    { rewrite <- (mean_const P D), <- mean_plus by (apply measurable_const || apply (Ht P M2)).
      apply mean_le; [exact M1 | apply (measurable_plus P t); [apply (Ht P M2) | apply measurable_const] |].
      intro o. unfold t. specialize (Hg o). specialize (Hg1 o). unfold Rmin. destruct (Rle_dec 1 (E * h o)); lra. }
    pose proof (Hcost Y P Q HPQ t (Ht P M2) (Ht Q M3)) as G2.
    assert (mean Q t <= E * mean Q h) as G3.
    { rewrite <- mean_scale by exact M3. apply mean_le; [apply (Ht Q M3) | now apply measurable_scale | intro o; apply Rmin_r]. }
    change (mean P g <= exp (fst c + sum fst more) * mean Q h + (snd c + D)). rewrite exp_plus. fold E.
    pose proof (exp_pos (fst c)). nra.
Qed.

(* Sampling keeps an epsilon and a delta. *)
Lemma mixed_approximate eps delta : forall Y P Q, mixed (approximate eps delta) Y P Q -> approximate eps delta Y P Q.
Proof.
  intros Y P Q H. induction H as [Y P Q H|Y r P1 Q1 P2 Q2 _ IH1 _ IH2]; [exact H|]. intros f Pf Qf.
  destruct (mixture_test _ _ _ _ Pf) as [A1 A2]. destruct (mixture_test _ _ _ _ Qf) as [B1 B2]. rewrite !mixture_mean.
  destruct (IH1 f A1 B1). destruct (IH2 f A2 B2). destruct r as [r Hr]. simpl in *. split; nra.
Qed.

Theorem sampled_approximate r eps delta : 0 <= eps -> 0 <= delta ->
  forall Y P Q, sampled r (approximate eps delta) Y P Q -> approximate eps delta Y P Q.
Proof.
  intros He Hd Y P Q H. destruct H as [Y P Q H]. intros f Pf Qf. destruct (mixture_test _ _ _ _ Pf) as [A1 _].
  destruct (mixed_approximate eps delta Y P Q H f A1 Qf). rewrite mixture_mean.
  pose proof (mean_bounds Q f Qf). pose proof (mean_bounds P f A1).
  assert (1 <= exp eps) by (rewrite <- exp_0; destruct He as [He|He]; [left; now apply exp_increasing | rewrite <- He; lra]).
  destruct r as [r Hr]. simpl in *. set (a := mean P f) in *. set (b := mean Q f) in *. set (e := exp eps) in *. split.
  - assert (b <= e * b) by nra. nra.
  - assert (a <= e * b + delta) by lra. assert (b <= e * b) by nra.
    replace (e * (r * a + (1 - r) * b) + delta) with (r * (e * a + delta) + (1 - r) * (e * b + delta)) by ring. nra.
Qed.

(* Many counts with the same discrete Gaussian noise, each moved by one: the sum of all noise tells as much as they do together, and the
   probability of each sum is hardly above that of a discrete Gaussian of the added variance. *)
From Coq Require Import Reals Lra Lia ZArith List Permutation FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Noise Theta ThetaArea ThetaRatio.
Open Scope R_scope.

(* A step that tells with probability l which neighbour it is, and nothing else. *)
Definition telling (l : R) : profile := {| infinite := l; atoms := [(1 - l, 1)] |}.
Lemma telling_proper l : 0 <= l <= 1 -> proper (telling l).
Proof. intros [H0 H1]. split; simpl; [lra|]. constructor; [simpl; split; lra | constructor]. Qed.

Lemma power_bounds l r : 0 <= l <= 1 -> 0 <= (1 - l) ^ r <= 1.
Proof. intro H. split; [apply pow_le; lra|]. pose proof (pow_incr (1 - l) 1 r ltac:(lra)) as P. now rewrite pow1 in P. Qed.

Lemma chain_telling l r x : 0 <= l <= 1 -> 0 <= x -> chain (repeat (telling l) r) x <= 1 - (1 - l) ^ r + hinge x.
Proof.
  intros Hl Hx. enough (chain (repeat (telling l) r) x = 1 - (1 - l) ^ r + (1 - l) ^ r * hinge x) as ->.
  - pose proof (power_bounds l r Hl).
    assert (0 <= hinge x) by apply Rmax_l. nra.
  - revert x Hx. induction r as [|r IH]; intros x Hx; cbn [repeat chain pow]; [ring|].
    rewrite act_unfold. cbn [telling infinite atoms sum fst snd]. replace (x / 1) with x by field. rewrite !IH, hinge_0 by lra. ring.
Qed.

Section Copies.
Variable c : R.
Hypothesis c_pos : 0 < c.
Let p := noise true c c_pos.

Lemma weight_bell z : weight true c z = bell c 0 z.
Proof. unfold weight, exponent, bell. rewrite mult_IZR. f_equal. ring. Qed.
Lemma all_theta : mass_of_all true c = theta c 0.
Proof. unfold mass_of_all, theta. f_equal. extensionality z. apply weight_bell. Qed.
Lemma noise_bell z : p z = bell c 0 z / theta c 0.
Proof. unfold p. rewrite noise_weight, weight_bell, all_theta. unfold Rdiv. ring. Qed.

(* The loss of one count, with what is further out than n at infinity. *)
Definition odds (z : Z) : R := exp (c * IZR (2 * z + 1)).
Definition outside (n : nat) : R := 1 - sum p (around n).
Definition loss_law (n : nat) : profile := {| infinite := outside n; atoms := map (fun z => (p z, odds z)) (around n) |}.

Lemma outside_nonneg n : 0 <= outside n.
Proof.
  unfold outside. pose proof (partial_le_total p n (mass_summable p) (mass_nonneg p)) as H. rewrite mass_total in H. lra.
Qed.
Lemma loss_law_proper n : proper (loss_law n).
Proof.
  split; [apply outside_nonneg|]. apply Forall_map, Forall_forall. intros z _. split; [apply mass_nonneg | apply exp_pos].
Qed.
Lemma act_loss_law n F x : act (loss_law n) F x = outside n * F 0 + sum (fun z => p z * F (x / odds z)) (around n).
Proof. unfold act, loss_law. cbn [infinite atoms]. now rewrite sum_map. Qed.

Lemma loss_law_below n Y P Q : moved true c c_pos 1 Y P Q -> below (curve (loss_law n)) P Q.
Proof.
  apply largest_move.
  apply below_weaken with (fun x => sum (fun z => pos (at_value true c c_pos 1 z - x * at_value true c c_pos 0 z)) (map (Z.add 1) (around n))
    + (1 - sum (at_value true c c_pos 1) (map (Z.add 1) (around n)))).
  - apply truncated_positive_parts. apply FinFun.Injective_map_NoDup; [intros i j; lia | apply around_nodup].
  - intros x Hx. right. unfold curve. rewrite act_loss_law, hinge_0, !sum_map. unfold outside. rewrite Rmult_1_r, Rplus_comm. f_equal.
    + f_equal. apply sum_ext. intros z _. rewrite at_value_noise. now replace (1 + z - 1)%Z with z by lia.
    + apply sum_ext. intros z _. rewrite !at_value_noise. replace (1 + z - 1)%Z with z by lia. replace (1 + z - 0)%Z with (z + 1)%Z by lia.
      fold p. assert (p (z + 1)%Z = p z * / odds z) as ->.
      { rewrite !noise_bell. unfold odds, bell. rewrite <- exp_Ropp, !plus_IZR, mult_IZR. unfold Rdiv.
        rewrite (Rmult_comm (exp _) (/ theta c 0)), (Rmult_comm (exp _) (/ theta c 0)), Rmult_assoc, <- exp_plus. do 2 f_equal. ring. }
      pose proof (mass_nonneg p z). unfold hinge, pos. replace (p z - x * (p z * / odds z)) with (p z * (1 - x / odds z)) by (unfold Rdiv; ring).
      set (y := 1 - x / odds z). destruct (Rle_dec 0 y); [rewrite !Rmax_right by nra | rewrite !Rmax_left by nra]; lra.
Qed.

(* The curve of i + 1 counts. *)
Definition term (j x : R) (z : Z) : R := bell (c / j) 0 z * hinge (x * exp (- (c * (2 * IZR z + j)))).
Fixpoint height_of (i : nat) : R :=
  match i with O => / theta c 0 | S j => height_of j * (theta (c * (INR (S i) / INR (S j))) 0 / theta c 0) end.
Definition together (i : nat) (x : R) : R := height_of i * total (term (INR (S i)) x).

Lemma hinge_bounds y : 0 <= y -> 0 <= hinge y <= 1.
Proof. intro H. unfold hinge. split; [apply Rmax_l | apply Rmax_lub; lra]. Qed.
Lemma term_bounds j x z : 0 <= x -> 0 <= term j x z <= bell (c / j) 0 z.
Proof.
  intro Hx. unfold term. pose proof (bell_pos (c / j) 0 z). pose proof (exp_pos (- (c * (2 * IZR z + j)))).
  pose proof (hinge_bounds (x * exp (- (c * (2 * IZR z + j)))) ltac:(nra)). nra.
Qed.
Lemma share_pos j : 0 < j -> 0 < c / j.
Proof. intro H. apply Rdiv_lt_0_compat; assumption. Qed.
Lemma term_summable j x : 0 < j -> 0 <= x -> summable (term j x).
Proof.
  intros Hj Hx. apply summable_le with (bell (c / j) 0); [|now apply bell_summable, share_pos].
  intro z. pose proof (term_bounds j x z Hx). rewrite Rabs_pos_eq; lra.
Qed.
Lemma next_pos i : 0 < INR (S i).
Proof. apply lt_0_INR. lia. Qed.
Lemma height_pos i : 0 < height_of i.
Proof.
  pose proof (theta_pos c c_pos 0) as T. induction i as [|i IH]; cbn [height_of]; [now apply Rinv_0_lt_compat|].
  apply Rmult_lt_0_compat; [exact IH|]. apply Rdiv_lt_0_compat; [|exact T]. apply theta_pos.
  apply Rmult_lt_0_compat; [exact c_pos|]. apply Rdiv_lt_0_compat; apply next_pos.
Qed.

(* One count more: the noise of both sums has the added variance, times a Gaussian sum over the integers. *)
Lemma together_step i x l : 0 <= x -> (exists n, l = around n) -> sum (fun z => p z * together i (x / odds z)) l <= together (S i) x.
Proof.
  intros Hx [n ->]. set (j := INR (S i)). pose proof (next_pos i) as Hj. fold j in Hj. pose proof (height_pos i) as K. pose proof (theta_pos c c_pos 0) as T0.
  assert (INR (S (S i)) = j + 1) as Ej by (unfold j; now rewrite (S_INR (S i))).
  set (H := fun u => hinge (x * exp (- (c * (2 * IZR u + (j + 1)))))).
  set (d := c * ((j + 1) / j)). assert (0 < d) as Hd by (apply Rmult_lt_0_compat; [assumption | apply Rdiv_lt_0_compat; lra]).
  assert (forall z, summable (fun u => bell (c / j) 0 (u - z) * H u) /\ total (term j (x / odds z)) = total (fun u => bell (c / j) 0 (u - z) * H u)) as Sh.
  { intro z. assert (0 <= x / odds z) as Hxz by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat, exp_pos]).
    destruct (shift_total _ z (term_summable j (x / odds z) Hj Hxz)) as [S1 T1].
    assert ((fun u => term j (x / odds z) (u - z)%Z) = (fun u => bell (c / j) 0 (u - z) * H u)) as E.
    { extensionality u. unfold term, H. f_equal. f_equal. unfold Rdiv. rewrite Rmult_assoc. f_equal. unfold odds. rewrite <- exp_Ropp, <- exp_plus.
      f_equal. rewrite plus_IZR, mult_IZR, minus_IZR. ring. }
    rewrite E in *. now split. }
  set (f := fun z u => p z * height_of i * (bell (c / j) 0 (u - z) * H u)).
  assert (sum (fun z => p z * together i (x / odds z)) (around n) = sum (fun z => total (f z)) (around n)) as ->.
  { apply sum_ext. intros z _. unfold together, f. fold j. rewrite (proj2 (Sh z)), total_scale. ring. }
  destruct (sum_total f (around n)) as [S1 <-]; [intros z _; apply summable_scale, Sh|].
  unfold together. cbn [height_of]. fold j. rewrite Ej, <- total_scale. fold d.
  assert (0 < j + 1) as Hj1 by lra.
  apply total_le; [exact S1 | apply summable_scale; now apply term_summable |]. intro u. unfold f, term. fold (H u).
  assert (0 <= H u) as HH by (apply hinge_bounds; apply Rmult_le_pos; [assumption | left; apply exp_pos]).
  assert (forall z, bell c 0 z * bell (c / j) 0 (u - z) = bell (c / (j + 1)) 0 u * bell d (IZR u / (j + 1)) z) as E.
  { intro z. unfold bell. rewrite <- !exp_plus. f_equal. rewrite minus_IZR. unfold d. field. lra. }
  apply Rle_trans with (height_of i / theta c 0 * H u * bell (c / (j + 1)) 0 u * sum (bell d (IZR u / (j + 1))) (around n)).
  - right. rewrite <- sum_scale. apply sum_ext. intros z _. rewrite noise_bell.
    replace (bell c 0 z / theta c 0 * height_of i * (bell (c / j) 0 (u - z) * H u))
      with (height_of i / theta c 0 * H u * (bell c 0 z * bell (c / j) 0 (u - z))) by (field; lra). rewrite E. ring.
  - replace (height_of i * (theta d 0 / theta c 0) * (bell (c / (j + 1)) 0 u * H u))
      with (height_of i / theta c 0 * H u * bell (c / (j + 1)) 0 u * theta d 0) by (field; lra).
    apply Rmult_le_compat_l.
    + apply Rmult_le_pos; [apply Rmult_le_pos; [left; now apply Rdiv_lt_0_compat | exact HH] | left; apply bell_pos].
    + eapply Rle_trans; [apply (partial_at_most d (IZR u / (j + 1)) n Hd) | now apply theta_largest_at_0].
Qed.

Lemma together_first x l : 0 <= x -> (exists n, l = around n) -> sum (fun z => p z * hinge (x / odds z)) l <= together 0 x.
Proof.
  intros Hx [n ->]. unfold together. cbn [height_of]. change (INR 1) with 1. pose proof (theta_pos c c_pos 0) as T0.
  apply Rle_trans with (/ theta c 0 * sum (term 1 x) (around n)).
  - right. rewrite <- sum_scale. apply sum_ext. intros z _. rewrite noise_bell. unfold term, odds.
    replace (c / 1) with c by field. unfold Rdiv. rewrite <- exp_Ropp, plus_IZR, mult_IZR. ring.
  - apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. apply partial_le_total; [apply term_summable; lra|].
    intro z. now apply term_bounds.
Qed.

(* i + 1 counts, after steps whose curve is at most e + hinge. *)
Fixpoint largest (i : nat) : R := match i with O => 1 | S j => largest j + together j 0 end.
Lemma chain_copies e n i Rest : 0 <= e -> (forall x, 0 <= x -> chain Rest x <= e + hinge x) ->
  forall x, 0 <= x -> chain (repeat (loss_law n) (S i) ++ Rest) x <= e + together i x + outside n * largest i.
Proof.
  intros He HR. pose proof (outside_nonneg n) as O.
  assert (outside n + sum p (around n) = 1) as One by (unfold outside; ring).
  assert (forall F G v x, 0 <= x -> (forall y, 0 <= y -> F y <= v + G y) ->
    act (loss_law n) F x <= v + outside n * G 0 + sum (fun z => p z * G (x / odds z)) (around n)) as Act.
  { intros F G v x Hx H. eapply Rle_trans; [apply (act_le (loss_law n) F (fun y => v + G y) x (loss_law_proper n) Hx H)|].
    rewrite act_loss_law. rewrite (sum_ext (fun z => p z * (v + G (x / odds z))) (fun z => v * p z + p z * G (x / odds z))) by (intros; ring).
    rewrite sum_plus, sum_scale. right. rewrite <- (Rmult_1_r v) at 3. rewrite <- One. ring. }
  induction i as [|i IH]; intros x Hx.
  - change (act (loss_law n) (chain Rest) x <= e + together 0 x + outside n * 1). eapply Rle_trans; [apply (Act _ hinge e x Hx HR)|].
    rewrite hinge_0. pose proof (together_first x (around n) Hx (ex_intro _ n eq_refl)). lra.
  - change (act (loss_law n) (chain (repeat (loss_law n) (S i) ++ Rest)) x <= e + together (S i) x + outside n * (largest i + together i 0)).
    eapply Rle_trans; [apply (Act _ (together i) (e + outside n * largest i) x Hx); intros y Hy; specialize (IH y Hy); lra|].
    pose proof (together_step i x (around n) Hx (ex_intro _ n eq_refl)). lra.
Qed.

(* A session of i + 1 counts and r steps that tell with probability l. *)
Theorem copies_session (C D : class) l i r : 0 <= l <= 1 ->
  (forall n, bounded (loss_law n) C) -> bounded (telling l) D ->
  forall s, spends (repeat C (S i) ++ repeat D r) s -> session_below (fun x => 1 - (1 - l) ^ r + together i x) s.
Proof.
  intros Hl HC HD s Hs f Hf x Hx. set (e := 1 - (1 - l) ^ r).
  assert (0 <= e) as He by (unfold e; pose proof (power_bounds l r Hl); lra).
  set (v := mean_first s f - x * mean_second s f).
  assert (forall n, v <= e + together i x + outside n * largest i) as B.
  { intro n. eapply Rle_trans; [|apply (chain_copies e n i (repeat (telling l) r) He (fun y Hy => chain_telling l r y Hl Hy) x Hx)].
    apply (composition (repeat (loss_law n) (S i) ++ repeat (telling l) r) (repeat C (S i) ++ repeat D r)); [| |exact Hs|exact Hf|exact Hx].
    - apply Forall_app. split; apply Forall_forall; intros A HA; apply repeat_spec in HA; subst A; [apply loss_law_proper | now apply telling_proper].
    - apply Forall2_app; [generalize (S i) as m | generalize r as m]; induction m; simpl; constructor; auto. }
  assert (v - (e + together i x) <= 0) as L; [|lra].
  apply (is_lim_seq_le (fun _ => v - (e + together i x)) (fun n => outside n * largest i) (v - (e + together i x)) 0);
    [intro n; specialize (B n); lra | apply is_lim_seq_const|].
  replace (Finite 0) with (Finite (0 * largest i)) by (f_equal; ring). apply is_lim_seq_mult'; [|apply is_lim_seq_const].
  replace (Finite 0) with (Finite (1 - total p)) by (f_equal; rewrite mass_total; ring).
  apply is_lim_seq_minus'; [apply is_lim_seq_const | apply around_limit; [apply mass_summable | apply mass_nonneg]].
Qed.
End Copies.

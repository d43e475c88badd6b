(* What the claims of a statement mean (section 4 of the specification), and the quantities that add up. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals Qminmax List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Sampling Basic Noise NoiseTop Normal Promise Renyi Moments TypeTwo TradeOff Tops Fixed Statement Bounds GridRule
  Lower Outcomes BelowRule.
Open Scope R_scope.

Arguments Qred : simpl never.
Arguments Qplus : simpl never.
Arguments Qmult : simpl never.

Inductive measure :=
| Delta (epsilon : Q)                 (* sup over events S of P(S) - e^epsilon Q(S) *)
| Rho                                 (* the least rho such that the releases are rho-zCDP *)
| RenyiDivergence (a : Q)             (* of order a *)
| SecondError (first : Q)             (* the least second error of tests with this first error *)
| Mu.                                 (* the least mu such that the releases are mu-GDP *)

(* rho-zCDP: for every order a > 1, the divergence of all that is seen is at most a rho. *)
Definition rho_at_most (classes : list class) (rho : R) : Prop :=
  forall s, spends classes s -> forall a, 1 < a -> session_moment a ((a - 1) * (a * rho)) s.
Definition divergence_at_most (classes : list class) (a bound : R) : Prop :=
  1 < a /\ forall s, spends classes s -> session_moment a ((a - 1) * bound) s.

(* mu-GDP: false alarms as rare as those of Gaussian noise mean detections as rare. *)
Definition mu_at_most (classes : list class) (mu : R) : Prop :=
  forall s, spends classes s -> forall f, decision s f -> as_hard_as mu (mean_first s f) (mean_second s f).

(* At most: for all pairs of neighbours in both orders, and where they have no named side also with an order of its own for each run. *)
Definition all_orders (named : bool) (releases : list release) (holds_for : list class -> Prop) : Prop :=
  if named then holds_for (run_classes (fun C => C) releases) /\ holds_for (run_classes reversed releases)
  else holds_for (run_classes either releases).

Definition claim_at_most (named : bool) (releases : list release) (m : measure) (bound : R) : Prop :=
  match m with
  | Delta epsilon => private_releases named releases (Q2R epsilon) bound
  | Rho => all_orders named releases (fun classes => rho_at_most classes bound)
  | RenyiDivergence a => all_orders named releases (fun classes => divergence_at_most classes (Q2R a) bound)
  | SecondError _ => False  (* no rule *)
  | Mu => all_orders named releases (fun classes => mu_at_most classes bound)
  end.

(* One pair of neighbours has no smaller mu. *)
Definition mu_at_least (classes : list class) (bound : R) : Prop := forall mu, mu < bound ->
  exists s, attains classes s /\ exists f, decision s f /\ ~ as_hard_as mu (mean_first s f) (mean_second s f).

(* At least: one pair of neighbours, whose laws are those of section 3, attains it; with several runs a statement has to say that one pair
   attains all of them (one_pair). The second error of all pairs is at least this. *)
Definition claim_at_least (named one_pair : bool) (releases : list release) (m : measure) (bound : R) : Prop :=
  match m with
  | Delta epsilon => (one_pair = true \/ runs_of releases = 1%Z) /\ attained_delta releases (Q2R epsilon) bound
  | SecondError first => all_orders named releases (fun classes => second_error_at_least classes (Q2R first) bound)
  | Mu => (one_pair = true \/ runs_of releases = 1%Z)
          /\ (mu_at_least (extreme_classes (fun C => C) releases) bound \/ mu_at_least (extreme_classes reversed releases) bound)
  | _ => False  (* no rule *)
  end.

(* rho and divergences of a mechanism ----------------------------------------------------------------------------------- *)

(* (epsilon, 0)-DP *)
Definition pure_epsilon (m : mechanism) : option Q :=
  match m with
  | RandomizedResponse eps => if Qle_bool 0 eps then Some eps else None
  | DiscreteLaplace (Fraction n d) s => Some (Qmake (Zpos (d * s)) n)
  | _ => None
  end.
Definition rho_of_mechanism (m : mechanism) : option Q :=
  match m, pure_epsilon m with
  | DiscreteGaussian (Fraction n d) s, _ => Some (Qmake (Zpos (s * s * d)) (2 * n))
  | ZeroConcentrated rho, _ => if Qle_bool 0 rho then Some rho else None
  | Gaussian sigma s, _ => Some (gauss_rho sigma s)
  | _, Some eps => Some (Qred (eps * eps / 2))
  | _, None => None
  end.
(* of order a: a rho, and not more than epsilon *)
Definition divergence_of_mechanism (a : Q) (m : mechanism) : option Q :=
  match rho_of_mechanism m, pure_epsilon m with
  | Some rho, Some eps => Some (Qred (Qmin (a * rho) eps))
  | Some rho, None => Some (Qred (a * rho))
  | None, _ => None
  end.

Definition moments_at_most (a m : R) (C : class) : Prop := moment_class a m C /\ moment_class a m (reversed C).

Lemma pure_epsilon_sound m eps : pure_epsilon m = Some eps -> 0 <= Q2R eps
  /\ forall Y P Q, class_of m Y P Q -> complete P /\ complete Q /\ approximate (Q2R eps) 0 Y P Q.
Proof.
  destruct m; simpl; try discriminate.
  - destruct (Qle_bool 0 epsilon) eqn:E; [|discriminate]. intro H. inversion H; subst. apply Q2R_nonneg in E. split; [exact E|].
    intros Y P Q HC. split; [|split; [|now apply response_approximate]]; destruct HC; apply finite_complete.
  - destruct scale as [n d]. intro H. inversion H; subst.
    assert (Q2R (Zpos (d * sensitivity) # n) = noise_rate d n * IZR (Zpos sensitivity)) as ->.
    { unfold Q2R, noise_rate. simpl. rewrite Pos2Z.inj_mul, mult_IZR. field. now apply not_0_IZR. }
    split; [apply Rmult_le_pos; [left; apply noise_rate_pos | apply IZR_le; lia]|].
    intros Y P Q HC. split; [|split; [|eapply laplace_approximate; [lia | exact HC]]]; destruct HC; apply noisy_complete.
Qed.

Lemma approximate_both eps Y (P Q : law Y) : approximate eps 0 Y P Q -> approximate eps 0 Y Q P.
Proof. intros H f Qf Pf. destruct (H f Pf Qf). now split. Qed.

Lemma pure_moments a m eps : 1 < a -> pure_epsilon m = Some eps ->
  moments_at_most a ((a - 1) * (a * (Q2R eps * Q2R eps / 2))) (class_of m) /\ moments_at_most a ((a - 1) * Q2R eps) (class_of m).
Proof.
  intros Ha H. destruct (pure_epsilon_sound m eps H) as [H0 H1]. split; split; intros Y P Q HC; destruct (H1 _ _ _ HC) as [C1 [C2 A]].
  - now apply pure_zcdp.
  - apply pure_zcdp; auto. now apply approximate_both.
  - now apply pure_moment.
  - apply pure_moment; auto. now apply approximate_both.
Qed.

Lemma Q2R_half x : Q2R (Qred (x * x / 2)) = Q2R x * Q2R x / 2.
Proof.
  rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_div, Q2R_mult by discriminate. unfold Q2R at 3. simpl. lra.
Qed.

Lemma rho_of_mechanism_sound m rho : rho_of_mechanism m = Some rho -> 0 <= Q2R rho
  /\ forall a, 1 < a -> moments_at_most a ((a - 1) * (a * Q2R rho)) (class_of m).
Proof.
  assert (forall eps, pure_epsilon m = Some eps -> rho = Qred (eps * eps / 2) -> 0 <= Q2R rho
    /\ forall a, 1 < a -> moments_at_most a ((a - 1) * (a * Q2R rho)) (class_of m)) as Pure.
  { intros eps He ->. rewrite Q2R_half. destruct (pure_epsilon_sound m eps He) as [H0 _]. split; [nra|]. intros a Ha. now apply pure_moments. }
  destruct m; unfold rho_of_mechanism;
    try (destruct (pure_epsilon _) as [eps|] eqn:E; [intro H; apply (Pure eps eq_refl); congruence | discriminate]).
  - destruct sigma2 as [n d]. intro H. assert (rho = Qmake (Zpos (sensitivity * sensitivity * d)) (2 * n)) as -> by congruence. cbn [class_of].
    assert (Q2R (Zpos (sensitivity * sensitivity * d) # (2 * n)) = noise_rate d (2 * n) * IZR (Zpos sensitivity * Zpos sensitivity)) as ->.
    { unfold Q2R, noise_rate. cbn [Qnum Qden]. rewrite !Pos2Z.inj_mul, !mult_IZR. field. now apply not_0_IZR. }
    split; [apply Rmult_le_pos; [left; apply noise_rate_pos | apply IZR_le; lia]|]. intros a Ha. split; intros Y P Q HC.
    + now apply (gaussian_moment (noise_rate d (2 * n)) (noise_rate_pos d (2 * n)) a Ha (Zpos sensitivity)).
    + apply (gaussian_moment (noise_rate d (2 * n)) (noise_rate_pos d (2 * n)) a Ha (Zpos sensitivity)). destruct HC as [v w Hvw]. constructor. lia.
  - destruct (Qle_bool 0 rho0) eqn:E0; [|discriminate]. intro H. inversion H; subst. split; [now apply Q2R_nonneg|].
    intros a Ha. split; intros Y P Q HC; now apply HC.
  - intro H. assert (rho = gauss_rho sigma sensitivity) as -> by congruence. split; [apply gauss_rho_nonneg|].
    intros a Ha. split; intros Y P Q HC; apply (gauss_rho_moment _ _ _ _ _ _ Ha HC).
Qed.

Lemma moments_of_release a m r : 0 <= m -> 1 < a -> moments_at_most a m (class_of (runs r)) -> moments_at_most a m (class_of_release r).
Proof.
  intros Hm Ha [H1 H2]. unfold class_of_release. destruct (rate r); [now apply sampled_moment | now split].
Qed.

Lemma orient_moments o a m C : moments_at_most a m C -> moment_class a m (orient o C).
Proof. intros [H1 H2]. destruct o; [exact H1 | exact H2 |]. intros Y P Q [HC|HC]; [now apply H1 | now apply H2]. Qed.

(* Sums over all releases. *)
Fixpoint total_of (part : mechanism -> option Q) (releases : list release) : option Q :=
  match releases with
  | [] => Some 0%Q
  | r :: rest => match part (runs r), total_of part rest with
                 | Some x, Some y => Some (Qred (x * inject_Z (Zpos (count r)) + y))
                 | _, _ => None
                 end
  end.

Lemma total_of_sound (part : mechanism -> option Q) (scale a : R) o : 1 < a -> 0 <= scale ->
  (forall m x, part m = Some x -> 0 <= Q2R x /\ moments_at_most a (scale * Q2R x) (class_of m)) ->
  forall releases x, total_of part releases = Some x -> exists ms,
  Forall (fun m => 0 <= m) ms /\ Forall2 (moment_class a) ms (run_classes (orient o) releases) /\ sum (fun m => m) ms = scale * Q2R x.
Proof.
  intros Ha Hs Hp. induction releases as [|r rest IH]; intros x; simpl.
  - intro H. inversion H; subst. exists []. repeat split; try constructor. unfold Q2R. simpl. lra.
  - destruct (part (runs r)) as [y|] eqn:E; [|discriminate]. destruct (total_of part rest) as [z|]; [|discriminate].
    intro H. inversion H; subst; clear H. destruct (IH z eq_refl) as [ms [M1 [M2 M3]]]. destruct (Hp _ _ E) as [Y0 YM].
    assert (0 <= scale * Q2R y) as Hm by nra. set (m := scale * Q2R y) in *.
    exists (repeat m (Pos.to_nat (count r)) ++ ms). repeat split.
    + apply Forall_app. split; [|exact M1]. apply Forall_forall. intros k Hk. apply repeat_spec in Hk. now subst k.
    + apply Forall2_app; [|exact M2]. apply Forall2_repeat. apply orient_moments. now apply moments_of_release.
    + rewrite sum_app, M3, (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, Q2R_mult.
      assert (Q2R (inject_Z (Zpos (count r))) = INR (Pos.to_nat (count r))) as -> by (rewrite INR_IZR_INZ, positive_nat_Z; unfold Q2R; simpl; lra).
      assert (sum (fun m => m) (repeat m (Pos.to_nat (count r))) = INR (Pos.to_nat (count r)) * m) as ->.
      { induction (Pos.to_nat (count r)) as [|k IHk]; [simpl; lra|]. cbn [repeat sum]. rewrite IHk, S_INR. lra. }
      unfold m. ring.
Qed.

Lemma moment_le a m n s : 1 < a -> m <= n -> session_moment a m s -> session_moment a n s.
Proof.
  intros Ha Hmn H h Hh Hp. eapply Rle_trans; [now apply H|]. apply Rmult_le_compat_r; [apply pw_nonneg|]. apply exp_le.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | exact Hmn].
Qed.

(* Rule `sum`. *)
Theorem rho_sum_sound o releases rho bound : total_of rho_of_mechanism releases = Some rho -> Q2R rho <= bound ->
  rho_at_most (run_classes (orient o) releases) bound.
Proof.
  intros H Hb s Hs a Ha. destruct (total_of_sound rho_of_mechanism ((a - 1) * a) a o Ha ltac:(nra)) with (2 := H) as [ms [M1 [M2 M3]]].
  - intros m x E. destruct (rho_of_mechanism_sound m x E) as [X0 X1]. split; [exact X0|]. rewrite Rmult_assoc. now apply X1.
  - apply (moment_le a (sum (fun m => m) ms)); [exact Ha | | now apply (moments_add_up a ms _ Ha M1 M2)].
    rewrite M3, Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma divergence_total a o releases x : 1 < Q2R a -> total_of (divergence_of_mechanism a) releases = Some x -> exists ms,
  Forall (fun m => 0 <= m) ms /\ Forall2 (moment_class (Q2R a)) ms (run_classes (orient o) releases)
  /\ sum (fun m => m) ms = (Q2R a - 1) * Q2R x.
Proof.
  intros Ha H. apply (total_of_sound (divergence_of_mechanism a) (Q2R a - 1) (Q2R a) o Ha ltac:(lra)) with (2 := H).
  intros m y. unfold divergence_of_mechanism. destruct (rho_of_mechanism m) as [rho|] eqn:E; [|discriminate].
  destruct (rho_of_mechanism_sound m rho E) as [R0 R1]. specialize (R1 (Q2R a) Ha).
  destruct (pure_epsilon m) as [eps|] eqn:Ee; intro Hy; inversion Hy; subst; rewrite (Qeq_eqR _ _ (Qred_correct _)).
  - destruct (pure_moments (Q2R a) m eps Ha Ee) as [_ Q1]. destruct (pure_epsilon_sound m eps Ee) as [E0 _].
    destruct (Q.min_spec (a * rho) eps) as [[_ ->]|[_ ->]]; [rewrite Q2R_mult; split; [nra | exact R1] | now split].
  - rewrite Q2R_mult. split; [nra | exact R1].
Qed.

Theorem divergence_sum_sound o releases a x bound : 1 < Q2R a -> total_of (divergence_of_mechanism a) releases = Some x -> Q2R x <= bound ->
  divergence_at_most (run_classes (orient o) releases) (Q2R a) bound.
Proof.
  intros Ha H Hb. split; [exact Ha|]. intros s Hs. destruct (divergence_total a o releases x Ha H) as [ms [M1 [M2 M3]]].
  apply (moment_le (Q2R a) (sum (fun m => m) ms)); [exact Ha | | now apply (moments_add_up (Q2R a) ms _ Ha M1 M2)].
  rewrite M3. apply Rmult_le_compat_l; lra.
Qed.

(* mu-GDP and all (epsilon, delta) are the same: delta at epsilon is at most the curve of Gaussian noise. *)
Theorem delta_from_mu classes mu epsilon : 0 < mu -> mu_at_most classes mu -> delta_at_most classes epsilon (gauss_curve mu (exp epsilon)).
Proof.
  intros Hm H s Hs f Hf. apply (curve_from_trade_off mu _ _ Hm (proj2 (mean_first_bounds s f Hf)) (mean_second_bounds s f Hf) (H s Hs f Hf)).
  apply exp_pos.
Qed.

Theorem mu_from_delta classes mu : 0 < mu -> (forall epsilon, delta_at_most classes epsilon (gauss_curve mu (exp epsilon))) -> mu_at_most classes mu.
Proof.
  intros Hm H s Hs f Hf. apply trade_off_from_curve; [exact Hm|]. intros x Hx. rewrite <- (exp_ln x Hx). now apply H.
Qed.

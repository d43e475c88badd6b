(* The checker's bound of each mechanism and of each release, in each order. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Sampling Basic Grid Fixed Exponential Above Tops Noise NoiseTop Promise Renyi Line Moves Normal NormalTop NormalRenyi Laplace Statement.
Open Scope R_scope.

Section Bounds.
Variable p : positive.  (* real numbers are enclosed by multiples of 2^-p *)

Definition real (q : Q) : ends := ratio p (Qnum q) (Qden q).
Lemma real_holds q : holds p (real q) (Q2R q).
Proof. apply ratio_holds. Qed.

Definition proper_outcomes (l : list (Q * Q)) : bool :=
  forallb (fun c => Qle_bool 0 (fst c) && Qle_bool 0 (snd c)) l
  && Qeq_bool (fold_right (fun c s => Qred (fst c + s)) 0%Q l) 1 && Qeq_bool (fold_right (fun c s => Qred (snd c + s)) 0%Q l) 1.

Definition parts : Z := 65536.  (* at most so many outcomes of a law *)

Definition noise_bound (square : bool) (num den : positive) (s : positive) : option top :=
  let n := reach p square num den in
  if (2 * Z.of_nat n + Zpos s <=? parts)%Z then Some (noise_top p square num den (Pos.to_nat s) n) else None.

Definition fraction_ends (f : fraction) : ends := ratio p (Zpos (numerator f)) (denominator f).
Lemma fraction_holds f : holds p (fraction_ends f) (real_fraction f).
Proof. apply ratio_holds. Qed.

Lemma fraction_pos f : 0 < real_fraction f.
Proof. apply Rmult_lt_0_compat; [now apply IZR_lt | now apply Rinv_0_lt_compat, IZR_lt]. Qed.

(* mu = sensitivity/sigma *)
Definition shift_of (sigma s : fraction) : fraction :=
  Fraction (numerator s * denominator sigma) (denominator s * numerator sigma).
Lemma shift_real sigma s : real_fraction s = real_fraction (shift_of sigma s) * real_fraction sigma.
Proof.
  destruct sigma as [a b], s as [c d]. unfold real_fraction, shift_of. simpl. rewrite !Pos2Z.inj_mul, !mult_IZR. field.
  repeat split; now apply not_0_IZR.
Qed.

(* mu^2/2 *)
Definition gauss_rho (sigma s : fraction) : Q :=
  let mu := shift_of sigma s in Qmake (Zpos (numerator mu * numerator mu)) (2 * (denominator mu * denominator mu)).
Lemma gauss_rho_nonneg sigma s : 0 <= Q2R (gauss_rho sigma s).
Proof. left. apply Rmult_lt_0_compat; [now apply IZR_lt | now apply Rinv_0_lt_compat, IZR_lt]. Qed.

Lemma gauss_rho_moment sigma s a Y P Q : 1 < a -> moved_gaussian (real_fraction sigma) (real_fraction s) Y P Q ->
  moment_bounded a ((a - 1) * (a * Q2R (gauss_rho sigma s))) Y P Q /\ moment_bounded a ((a - 1) * (a * Q2R (gauss_rho sigma s))) Y Q P.
Proof.
  intros Ha HC. assert (moved_gaussian (real_fraction sigma) (real_fraction s) Y Q P) as HD.
  { destruct HC as [v u H]. constructor. now rewrite Rabs_minus_sym. }
  assert (Q2R (gauss_rho sigma s) = real_fraction s * real_fraction s / (2 * (real_fraction sigma * real_fraction sigma))) as ->.
  { destruct sigma as [n d], s as [k l]. unfold Q2R, gauss_rho, shift_of, real_fraction. cbn [Qnum Qden numerator denominator].
    rewrite !Pos2Z.inj_mul, !mult_IZR. field. repeat split; now apply not_0_IZR. }
  pose proof (fraction_pos sigma). split; now apply gauss_moment.
Qed.

Definition top_of (m : mechanism) : option top :=
  match m with
  | FiniteLaw outcomes =>
      if proper_outcomes outcomes then Some (finite_top p (map (fun c => (real (fst c), real (snd c))) outcomes)) else None
  | RandomizedResponse epsilon => Some (response_top p (real epsilon))
  | DiscreteLaplace scale s => let (n, d) := scale in noise_bound false d n s
  | DiscreteGaussian sigma2 s => let (n, d) := sigma2 in noise_bound true d (2 * n) s
  | Approximate epsilon delta =>
      if Qle_bool 0 epsilon && Qle_bool 0 delta && Qle_bool delta 1
      then Some (finite_top p (promise_ends p (real epsilon) (real delta))) else None
  | ZeroConcentrated _ => None  (* a promise without a curve *)
  | Gaussian sigma s => Some (gauss_top p (fraction_ends (shift_of sigma s)))
  | Laplace scale s => Some (laplace_top p (fraction_ends (shift_of scale s)))
  end.

Definition inhabited (C : class) : Prop := exists Y P Q, C Y P Q.

Lemma sum_Q2R (f : Q * Q -> Q) l : Q2R (fold_right (fun c s => Qred (f c + s)) 0%Q l) = sum (fun c => Q2R (f c)) l.
Proof.
  induction l as [|c l IH]; cbn [fold_right sum]; [unfold Q2R; simpl; lra|]. rewrite <- IH, <- Q2R_plus. apply Qeq_eqR, Qred_correct.
Qed.

Lemma Q2R_nonneg q : Qle_bool 0 q = true -> 0 <= Q2R q.
Proof. intro H. apply Qle_bool_iff, Qle_Rle in H. unfold Q2R at 1 in H. simpl in H. lra. Qed.

Lemma proper_outcomes_inhabited l : proper_outcomes l = true -> inhabited (finite_pair (real_pairs l)).
Proof.
  unfold proper_outcomes. rewrite !andb_true_iff, forallb_forall. intros [[H1 H2] H3].
  apply Qeq_bool_iff, Qeq_eqR in H2, H3. rewrite sum_Q2R in H2, H3. unfold Q2R at 2 in H2. unfold Q2R at 2 in H3. simpl in H2, H3.
  assert (forall g : Q * Q -> Q, (forall c, In c l -> 0 <= Q2R (g c)) -> sum (fun c => Q2R (g c)) l = 1 ->
    exists P : probabilities, each P = map (fun c => Q2R (g c)) l) as G.
  { intros g Hg Hs. unshelve eexists (Probabilities (map (fun c => Q2R (g c)) l) _ _); [| |reflexivity].
    - apply Forall_map, Forall_forall. exact Hg.
    - now rewrite sum_map. }
  assert (forall c, In c l -> 0 <= Q2R (fst c) /\ 0 <= Q2R (snd c)) as H0.
  { intros c Hc. specialize (H1 c Hc). apply andb_true_iff in H1. destruct H1. split; now apply Q2R_nonneg. }
  destruct (G fst) as [P HP]; [intros; now apply H0 | lra |]. destruct (G snd) as [Q' HQ]; [intros; now apply H0 | lra |].
  exists nat, (finite P), (finite Q'). apply is_finite_pair; [rewrite HP | rewrite HQ]; unfold real_pairs; now rewrite map_map.
Qed.

Lemma response_inhabited eps : inhabited (finite_pair (response eps)).
Proof.
  pose proof (truth_pos eps). pose proof (lie_pos eps). pose proof (truth_lie eps).
  unshelve eexists nat, (finite (Probabilities [truth eps; lie eps] _ _)), (finite (Probabilities [lie eps; truth eps] _ _)).
  1, 3: repeat constructor; lra. 1, 2: simpl; lra.
  apply is_finite_pair; reflexivity.
Qed.

Lemma moved_inhabited square a a_pos s : inhabited (moved square a a_pos (Zpos s)).
Proof. exists Z, (noisy square a a_pos 0), (noisy square a a_pos 0). constructor. lia. Qed.

Lemma moved_value_inhabited w scale s : inhabited (moved_value w scale (real_fraction s)).
Proof.
  exists R, (noisy_value w scale 0), (noisy_value w scale 0). constructor. rewrite Rminus_0_r, Rabs_R0. left. apply fraction_pos.
Qed.

Theorem top_of_sound m T : top_of m = Some T -> tops p T (class_of m) /\ inhabited (class_of m).
Proof.
  destruct m as [l|eps|[n d] s|[n d] s|eps delta|rho|sigma s|scale s]; simpl.
  - destruct (proper_outcomes l) eqn:E; [|discriminate]. intro H. inversion H; subst. split; [|now apply proper_outcomes_inhabited].
    apply tops_finite. unfold real_pairs. clear. induction l as [|c l IH]; simpl; constructor; [|exact IH].
    split; apply real_holds.
  - intro H. inversion H; subst. split; [apply tops_response, real_holds | apply response_inhabited].
  - unfold noise_bound. destruct (_ <=? _)%Z; [|discriminate]. intro H. inversion H; subst. split; [|apply moved_inhabited].
    pose proof (tops_noise p false d n (Pos.to_nat s) (reach p false d n)) as G. now rewrite positive_nat_Z in G.
  - unfold noise_bound. destruct (_ <=? _)%Z; [|discriminate]. intro H. inversion H; subst. split; [|apply moved_inhabited].
    pose proof (tops_noise p true d (2 * n) (Pos.to_nat s) (reach p true d (2 * n))) as G. now rewrite positive_nat_Z in G.
  - destruct (Qle_bool 0 eps) eqn:E1, (Qle_bool 0 delta) eqn:E2, (Qle_bool delta 1) eqn:E3; simpl; try discriminate.
    intro H. inversion H; subst. apply Q2R_nonneg in E1, E2. apply Qle_bool_iff, Qle_Rle in E3. unfold Q2R at 2 in E3. simpl in E3.
    split; [apply tops_promise; try apply real_holds; lra|].
    unshelve eexists nat, (finite (Probabilities [1] _ _)), (finite (Probabilities [1] _ _)).
    1, 3: repeat constructor; lra. 1, 2: simpl; lra.
    intros f Pf Qf. pose proof (mean_bounds _ f Pf) as B. simpl in *. pose proof (exp_ge_1 (Q2R eps) E1). split; nra.
  - discriminate.
  - intro H. inversion H; subst. split; [|apply moved_value_inhabited]. rewrite (shift_real sigma s).
    apply tops_gauss; try apply fraction_pos. apply fraction_holds.
  - intro H. inversion H; subst. split; [|apply moved_value_inhabited]. rewrite (shift_real scale s).
    apply tops_laplace; [left; apply fraction_pos | apply fraction_pos | apply fraction_holds].
Qed.

Definition top_of_release (r : release) : option top :=
  match top_of (runs r), rate r with
  | Some T, None => Some T
  | Some T, Some q => if (Zpos (numerator q) <=? Zpos (denominator q))%Z
                      then Some (sampled_top p (Zpos (numerator q)) (denominator q) T) else None
  | None, _ => None
  end.

Theorem top_of_release_sound r T : top_of_release r = Some T -> tops p T (class_of_release r) /\ inhabited (class_of_release r).
Proof.
  unfold top_of_release, class_of_release. destruct (top_of (runs r)) as [T0|] eqn:E; [|discriminate].
  destruct (top_of_sound _ _ E) as [H1 [Y [P [Q HC]]]]. destruct (rate r) as [[n d]|]; simpl.
  - destruct (Z.leb_spec (Zpos n) (Zpos d)); [|discriminate]. intro H0. inversion H0; subst. split.
    + apply tops_sampled; [|lia|exact H1]. simpl. unfold real_fraction. simpl. apply Rmin_right.
      apply Rmult_le_reg_r with (IZR (Zpos d)); [now apply IZR_lt|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (now apply not_0_IZR).
      rewrite Rmult_1_r, Rmult_1_l. now apply IZR_le.
    + exists Y, (mixture (rate_of (Fraction n d)) P Q), Q. apply is_sampled. now apply mixed_one.
  - intro H0. inversion H0; subst. split; [exact H1 | now exists Y, P, Q].
Qed.

(* The two orders of named neighbours, or both at once: each run has its own order. *)

Inductive order := forward | backward | unnamed.
Definition orient (o : order) : class -> class :=
  match o with forward => fun C => C | backward => reversed | unnamed => either end.
Definition orient_top (o : order) (T : top) : top :=
  match o with forward => T | backward => backward_top p T | unnamed => larger_top T (backward_top p T) end.

Lemma orient_sound o T C : tops p T C -> tops p (orient_top o T) (orient o C).
Proof. destruct o; simpl; intro H; [exact H | now apply tops_backward | now apply tops_either]. Qed.
Lemma orient_inhabited o C : inhabited C -> inhabited (orient o C).
Proof. intros [Y [P [Q H]]]. destruct o; simpl; [now exists Y, P, Q | now exists Y, Q, P | exists Y, P, Q; now left]. Qed.
End Bounds.

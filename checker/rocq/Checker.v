(* The checker, and the theorem that what it accepts is true. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Countable Finite Sampling Basic Grid Fixed Exponential Above Tops Noise NoiseTop Promise Renyi Kronecker Laplace Normal NormalTop NormalSum
  Statement Bounds GridRule.
Open Scope R_scope.

(* Section 5 of the specification: how a claim is derived. *)
Inductive derivation :=
| CurveRule
| BasicRule
| GridRule (step : fraction) (mass_bits : Z) (nodes : list (Z * Z)) (window : Z * Z).

Arguments Qred : simpl never.
Arguments Qplus : simpl never.
Arguments Qmult : simpl never.

Section Checker.
Variable p : positive.  (* real numbers are enclosed by multiples of 2^-p *)
Variable convolve : list Z -> list Z -> list Z.
Hypothesis convolve_correct : forall a b, convolve a b = convolution a b.

Definition at_most (u : ends) (bound : Q) : bool :=
  match u with Some (_, b) => (b * QDen bound <=? Qnum bound * one p)%Z | None => false end.

Lemma at_most_sound u bound x : holds p u x -> at_most u bound = true -> x <= Q2R bound.
Proof.
  destruct u as [[a b]|]; simpl; [|discriminate]. intros [_ H] L. apply Z.leb_le, IZR_le in L. rewrite !mult_IZR in L.
  pose proof (one_posR p). assert (0 < IZR (QDen bound)) by now apply IZR_lt. unfold Q2R.
  apply Rmult_le_reg_r with (IZR (one p) * IZR (QDen bound)); [now apply Rmult_lt_0_compat|].
  replace (IZR (Qnum bound) * / IZR (QDen bound) * (IZR (one p) * IZR (QDen bound))) with (IZR (Qnum bound) * IZR (one p)) by (field; lra).
  apply Rle_trans with (IZR b * IZR (QDen bound)); [|exact L]. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra.
Qed.

(* Rule `curve`: one run of one release, or any number of Gaussian ones -------------------------------------------------- *)

(* mu^2 *)
Definition square_of (r : release) : option Q :=
  match runs r, rate r with
  | Gaussian sigma s, None => let mu := shift_of sigma s in Some (Qmake (Zpos (numerator mu * numerator mu)) (denominator mu * denominator mu))
  | _, _ => None
  end.
Fixpoint all_squares (releases : list release) : option Q :=
  match releases with
  | [] => Some 0%Q
  | r :: rest => match square_of r, all_squares rest with
                 | Some q, Some total => Some (Qred (q * inject_Z (Zpos (count r)) + total))
                 | _, _ => None
                 end
  end.
Definition gaussian_sum (releases : list release) (eps : Q) : ends :=
  match releases, all_squares releases with
  | _ :: _, Some q => match gauss_top p (root p (real p q)) (exponential p (real p eps)) with Some t => exactly t | None => None end
  | _, _ => None
  end.

Definition curve_once (o : order) (r : release) (eps : Q) : ends :=
  match top_of_release p r with
  | Some T => match orient_top p o T (exponential p (real p eps)) with Some t => exactly t | None => None end
  | None => None
  end.

Definition curve_rule (o : order) (releases : list release) (eps : Q) : ends :=
  match releases with
  | [r] => if (count r =? 1)%positive then curve_once o r eps else gaussian_sum releases eps
  | _ => gaussian_sum releases eps
  end.

Lemma all_squares_sound o releases : forall q, all_squares releases = Some q -> exists l,
  Forall2 within l (run_classes (orient o) releases) /\ squares l = Q2R q /\ (releases <> [] -> l <> []).
Proof.
  induction releases as [|r rest IH]; intros q; cbn [all_squares].
  - intro H. inversion H; subst. exists []. repeat split; try constructor; [|auto]. unfold squares, Q2R. simpl. lra.
  - destruct (square_of r) as [one_square|] eqn:E; [|discriminate]. destruct (all_squares rest) as [more|]; [|discriminate].
    intro H. inversion H; subst; clear H. destruct (IH more eq_refl) as [l [L1 [L2 _]]].
    unfold square_of in E. destruct (runs r) as [| | | | | |sigma s|] eqn:Er; try discriminate. destruct (rate r) as [f|] eqn:Ef; [discriminate|].
    set (a := (real_fraction (shift_of sigma s), real_fraction sigma)).
    assert (within a (orient o (class_of_release r))) as W.
    { split; [apply fraction_pos|]. split; [apply fraction_pos|]. unfold class_of_release. rewrite Ef, Er. simpl. rewrite <- shift_real.
      assert (forall Y P Q, moved_gaussian (real_fraction sigma) (real_fraction s) Y P Q -> moved_gaussian (real_fraction sigma) (real_fraction s) Y Q P) as Sym.
      { intros Y P Q [v u H]. constructor. now rewrite Rabs_minus_sym. }
      intros Y P Q HC. destruct o; simpl in HC; [exact HC | now apply Sym | destruct HC as [HC|HC]; [exact HC | now apply Sym]]. }
    exists (repeat a (Pos.to_nat (count r)) ++ l). split; [|split].
    + apply Forall2_app; [now apply Forall2_repeat | exact L1].
    + assert (Q2R one_square = fst a * fst a) as Es.
      { assert (one_square = let mu := shift_of sigma s in Qmake (Zpos (numerator mu * numerator mu)) (denominator mu * denominator mu)) as -> by congruence.
        unfold a. cbn [fst]. destruct (shift_of sigma s) as [n d]. unfold real_fraction, Q2R. cbn [numerator denominator Qnum Qden]. rewrite !Pos2Z.inj_mul, !mult_IZR. field. now apply not_0_IZR. }
      unfold squares in *. rewrite sum_app, L2, (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, Q2R_mult, Es. f_equal.
      unfold Q2R. cbn [inject_Z Qnum Qden]. rewrite Rinv_1, Rmult_1_r, <- positive_nat_Z, <- INR_IZR_INZ.
      induction (Pos.to_nat (count r)) as [|k IHk]; [simpl; lra|]. cbn [repeat sum]. rewrite IHk, S_INR. ring.
    + intros _. pose proof (Pos2Nat.is_pos (count r)). destruct (Pos.to_nat (count r)); [lia | discriminate].
Qed.

Lemma gaussian_sum_sound o releases eps bound : at_most (gaussian_sum releases eps) bound = true ->
  delta_at_most (run_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold gaussian_sum. destruct releases as [|r rest]; [discriminate|]. destruct (all_squares (r :: rest)) as [q|] eqn:Eq; [|discriminate].
  destruct (gauss_top p _ _) as [t|] eqn:Et; [|discriminate]. intro H. pose proof (at_most_sound _ _ _ (exactly_holds p t) H) as Hb.
  destruct (all_squares_sound o _ q Eq) as [l [L1 [L2 L3]]]. assert (l <> []) as L4 by (apply L3; discriminate).
  pose proof (squares_pos l _ L1 L4) as Hp. pose proof (exp_pos (Q2R eps)) as He. intros s Hs f Hf.
  eapply Rle_trans; [apply (gaussian_sessions s l _ L1 L4 Hs f Hf _ He)|]. eapply Rle_trans; [|exact Hb].
  apply (gauss_top_above p (root p (real p q)) _ (exponential p (real p eps))); auto.
  - now apply sqrt_lt_R0.
  - rewrite L2. apply root_holds, real_holds.
  - apply exponential_holds, real_holds.
Qed.

Lemma spends_nothing s : spends [] s -> forall f, mean_first s f = mean_second s f.
Proof.
  destruct s as [|Y P Q next]; [reflexivity|]. intros [C [rest [Hp _]]]. now apply Permutation.Permutation_nil_cons in Hp.
Qed.

Theorem curve_rule_sound o releases eps bound : at_most (curve_rule o releases eps) bound = true ->
  delta_at_most (run_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold curve_rule. destruct releases as [|r [|]]; [apply gaussian_sum_sound| |apply gaussian_sum_sound].
  destruct (Pos.eqb_spec (count r) 1) as [E1|]; [|apply gaussian_sum_sound]. unfold curve_once.
  destruct (top_of_release p r) as [T|] eqn:ET; [|discriminate]. destruct (orient_top p o T _) as [t|] eqn:Et; [|discriminate].
  intro H. pose proof (at_most_sound _ _ _ (exactly_holds p t) H) as Hb. destruct (top_of_release_sound p r T ET) as [HT HI].
  pose proof (exp_pos (Q2R eps)) as He.
  pose proof (orient_sound p o T _ HT _ _ t (exponential_holds p _ _ (real_holds p eps)) He Et) as B.
  unfold run_classes. simpl. rewrite E1. simpl.
  intros s Hs f Hf. eapply Rle_trans; [|exact Hb]. destruct s as [|Y P Q next].
  - simpl in *. destruct (orient_inhabited o _ HI) as [Y [P [Q HC]]].
    pose proof (B Y P Q HC _ (test_one P) (test_one Q)) as B1. rewrite !mean_const in B1.
    pose proof (B Y P Q HC (fun _ => 0)) as B0. rewrite !mean_const in B0.
    assert (forall R0 : law Y, test R0 (fun _ => 0)) as T0 by (intro R0; split; [apply measurable_const | intros; lra]).
    specialize (B0 (T0 P) (T0 Q)). nra.
  - destruct Hs as [C [rest [Hp [HC Hn]]]]. apply Permutation.Permutation_length_1_inv in Hp. inversion Hp; subst C rest.
    destruct Hf as [Hd [M1 [M2 M3]]]. simpl.
    replace (fun o0 => mean_first (next o0) (fun t0 => f (existT _ o0 t0))) with (fun o0 => mean_second (next o0) (fun t0 => f (existT _ o0 t0)))
      by (apply FunctionalExtensionality.functional_extensionality; intro o0; symmetry; now apply spends_nothing).
    apply (B Y P Q HC); split; try assumption; intro o0; now apply mean_second_bounds.
Qed.

(* Rule `basic`: epsilons and deltas add up ------------------------------------------------------------------------------ *)

Definition cost_of (m : mechanism) : option (Q * Q) :=
  match m with
  | RandomizedResponse eps => Some (eps, 0%Q)
  | DiscreteLaplace (Fraction n d) s => Some (Qmake (Zpos (d * s)) n, 0%Q)
  | Approximate eps delta => Some (eps, delta)
  | Laplace scale s => let (n, d) := shift_of scale s in Some (Qmake (Zpos n) d, 0%Q)
  | _ => None
  end.

Definition proper_cost (c : Q * Q) : bool := Qle_bool 0 (fst c) && Qle_bool 0 (snd c).

Fixpoint basic_cost (releases : list release) : option (Q * Q) :=
  match releases with
  | [] => Some (0, 0)%Q
  | r :: rest =>
      match cost_of (runs r), basic_cost rest with
      | Some c, Some (e, d) =>
          if proper_cost c then Some (Qred (fst c * inject_Z (Zpos (count r)) + e), Qred (snd c * inject_Z (Zpos (count r)) + d))%Q else None
      | _, _ => None
      end
  end.

Lemma cost_of_sound m c : cost_of m = Some c -> 0 <= Q2R (fst c) -> 0 <= Q2R (snd c) ->
  forall Y P Q, class_of m Y P Q -> approximate (Q2R (fst c)) (Q2R (snd c)) Y P Q.
Proof.
  assert (Q2R 0 = 0) as Z0 by (unfold Q2R; simpl; lra).
  destruct m as [l|eps|[n d] s|[n d] s|eps delta|rho|sigma s|scale s]; simpl; try discriminate; intro H; inversion H; subst; simpl; intros H1 H2 Y P Q HC.
  - rewrite Z0. now apply response_approximate.
  - rewrite Z0. replace (Q2R (Z.pos (d * s) # n)) with (noise_rate d n * IZR (Zpos s)).
    + eapply laplace_approximate; [lia | exact HC].
    + unfold Q2R, noise_rate. simpl. rewrite Pos2Z.inj_mul, mult_IZR. field. now apply not_0_IZR.
  - exact HC.
  - rewrite Z0. apply (laplace_noise_approximate _ (real_fraction scale)); [exact H1 | apply fraction_pos|].
    rewrite (shift_real scale s) in HC. exact HC.
Qed.

Lemma cost_release_sound r c : cost_of (runs r) = Some c -> proper_cost c = true ->
  forall Y P Q, class_of_release r Y P Q -> approximate (Q2R (fst c)) (Q2R (snd c)) Y P Q.
Proof.
  unfold proper_cost. rewrite andb_true_iff. intros H [H1 H2]. apply Q2R_nonneg in H1, H2. pose proof (cost_of_sound _ _ H H1 H2) as G.
  unfold class_of_release. destruct (rate r) as [q|]; [|exact G]. intros Y P Q HC. apply (sampled_approximate (rate_of q)); auto.
  destruct HC as [Y P Q HC]. apply is_sampled. induction HC; [apply mixed_one; auto | now apply mixed_two].
Qed.

Lemma orient_approximate o eps delta (C : class) : (forall Y P Q, C Y P Q -> approximate eps delta Y P Q) ->
  spends_at_most (eps, delta) (orient o C).
Proof.
  intros H Y P Q HC f Pf Qf. destruct o; simpl in *.
  - now apply (H Y P Q HC).
  - now apply (H Y Q P HC).
  - destruct HC as [HC|HC]; [now apply (H Y P Q HC) | now apply (H Y Q P HC)].
Qed.

Lemma Q2R_times c n : Q2R (c * inject_Z (Zpos n)) = Q2R c * INR (Pos.to_nat n).
Proof. rewrite Q2R_mult, INR_IZR_INZ, positive_nat_Z. unfold Q2R at 2. simpl. lra. Qed.

Lemma basic_cost_sound o releases : forall e d, basic_cost releases = Some (e, d) -> exists costs,
  Forall (fun c => 0 <= fst c /\ 0 <= snd c) costs /\ Forall2 spends_at_most costs (run_classes (orient o) releases)
  /\ sum fst costs = Q2R e /\ sum snd costs = Q2R d.
Proof.
  induction releases as [|r rest IH]; intros e d; simpl.
  - intro H. inversion H; subst. exists []. simpl. unfold Q2R. simpl. repeat split; try constructor; lra.
  - destruct (cost_of (runs r)) as [c|] eqn:Ec; [|discriminate]. destruct (basic_cost rest) as [[e' d']|]; [|discriminate].
    destruct (proper_cost c) eqn:Ep; [|discriminate]. intro H. inversion H; subst; clear H.
    destruct (IH e' d' eq_refl) as [costs [H1 [H2 [H3 H4]]]].
    pose proof (orient_approximate o _ _ _ (cost_release_sound r c Ec Ep)) as HC.
    unfold proper_cost in Ep. apply andb_true_iff in Ep. destruct Ep as [E1 E2]. apply Q2R_nonneg in E1, E2.
    exists (repeat (Q2R (fst c), Q2R (snd c)) (Pos.to_nat (count r)) ++ costs). repeat split.
    + apply Forall_app. split; [|exact H1]. apply Forall_forall. intros x Hx. apply repeat_spec in Hx. subst. simpl. lra.
    + apply Forall2_app; [now apply Forall2_repeat | exact H2].
    + rewrite sum_app, H3, (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, Q2R_times. f_equal.
      induction (Pos.to_nat (count r)) as [|k IHk]; [simpl; lra|]. cbn [repeat sum]. rewrite IHk, S_INR. simpl. lra.
    + rewrite sum_app, H4, (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, Q2R_times. f_equal.
      induction (Pos.to_nat (count r)) as [|k IHk]; [simpl; lra|]. cbn [repeat sum]. rewrite IHk, S_INR. simpl. lra.
Qed.

Definition basic_rule (releases : list release) (eps bound : Q) : bool :=
  match basic_cost releases with Some (e, d) => Qle_bool e eps && Qle_bool d bound | None => false end.

Theorem basic_rule_sound o releases eps bound : basic_rule releases eps bound = true ->
  delta_at_most (run_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  unfold basic_rule. destruct (basic_cost releases) as [[e d]|] eqn:E; [|discriminate]. rewrite andb_true_iff. intros [H1 H2] s Hs f Hf.
  apply Qle_bool_iff, Qle_Rle in H1, H2. destruct (basic_cost_sound o releases e d E) as [costs [C1 [C2 [C3 C4]]]].
  pose proof (basic_composition costs _ C1 C2 s Hs f Hf) as B. rewrite C3, C4 in B.
  pose proof (mean_second_bounds s f Hf). assert (exp (Q2R e) <= exp (Q2R eps)) by (destruct H1 as [H1| ->]; [left; now apply exp_increasing | lra]). nra.
Qed.

(* All rules, in both orders where neighbours have a named side ----------------------------------------------------------- *)

(* What both orders share: on a grid, the bounds at its nodes. *)
Definition shared (releases : list release) (how : derivation) : list (list bound_at) :=
  match how with GridRule (Fraction num den) _ nodes _ => all_bounds p num den releases nodes | _ => [] end.

Definition derive (o : order) (releases : list release) (bounds : list (list bound_at)) (eps bound : Q) (how : derivation) : bool :=
  match how with
  | CurveRule => at_most (curve_rule o releases eps) bound
  | BasicRule => basic_rule releases eps bound
  | GridRule (Fraction num den) mass_bits nodes (low, high) =>
      (0 <=? mass_bits)%Z && (mass_bits <=? Zpos p)%Z
      && at_most (grid_rule p convolve num den mass_bits low high o releases nodes bounds eps) bound
  end.

Theorem derive_sound o releases eps bound how : derive o releases (shared releases how) eps bound how = true ->
  delta_at_most (run_classes (orient o) releases) (Q2R eps) (Q2R bound).
Proof.
  destruct how as [| |[num den] mass_bits nodes [low high]]; simpl.
  - apply curve_rule_sound.
  - apply basic_rule_sound.
  - rewrite !andb_true_iff, !Z.leb_le. intros [[B1 B2] H].
    destruct (grid_rule_sound p convolve convolve_correct num den mass_bits low high (conj B1 B2) o releases nodes eps) as [b [G1 G2]].
    pose proof (at_most_sound _ _ _ G1 H) as L. intros s Hs f Hf. eapply Rle_trans; [apply G2; try assumption | exact L].
    intro E. rewrite E in H. discriminate.
Qed.

(* delta is never above 1. *)
Lemma delta_at_most_1 classes eps bound : 1 <= bound -> delta_at_most classes eps bound.
Proof.
  intros H s Hs f Hf. pose proof (mean_first_bounds s f Hf). pose proof (mean_second_bounds s f Hf). pose proof (exp_pos eps). nra.
Qed.

Definition check (named : bool) (releases : list release) (eps bound : Q) (how : derivation) : bool :=
  Qle_bool 1 bound
  || let bounds := shared releases how in
     if named then derive forward releases bounds eps bound how && derive backward releases bounds eps bound how
     else derive unnamed releases bounds eps bound how.

Theorem check_sound named releases eps bound how : check named releases eps bound how = true ->
  private_releases named releases (Q2R eps) (Q2R bound).
Proof.
  unfold check, private_releases. cbv zeta. rewrite orb_true_iff. intros [H|H].
  - apply Qle_bool_iff, Qle_Rle in H. replace (Q2R 1) with 1 in H by (unfold Q2R; simpl; lra).
    destruct named; [split|]; now apply delta_at_most_1.
  - destruct named; [|now apply (derive_sound unnamed releases eps bound how)].
    apply andb_true_iff in H. destruct H as [H1 H2].
    split; [now apply (derive_sound forward releases eps bound how) | now apply (derive_sound backward releases eps bound how)].
Qed.
End Checker.

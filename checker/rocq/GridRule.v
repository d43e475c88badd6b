(* The rule `grid`, computed: masses above each release, powers by squaring, and delta at the end. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List Bool.
Import ListNotations.
From DP Require Import Law Profile Compose Finite Grid Fixed Exponential Above Tops Statement Bounds.
Open Scope R_scope.

Section GridRule.
Variable p : positive.
Variable convolve : list Z -> list Z -> list Z.
Hypothesis convolve_correct : forall a b, convolve a b = convolution a b.
Variables (num den : positive).  (* the step *)
Variables (mass_bits low high : Z).
Hypothesis bits_fit : (0 <= mass_bits <= Zpos p)%Z.
Definition step : R := IZR (Zpos num) / IZR (Zpos den).
Lemma step_pos : 0 < step.
Proof. apply Rmult_lt_0_compat; [now apply IZR_lt | now apply Rinv_0_lt_compat, IZR_lt]. Qed.

Definition node_ends (i : Z) : ends := exponential p (ratio p (i * Zpos num) den).
Lemma node_ends_holds i : holds p (node_ends i) (node step i).
Proof.
  unfold node_ends, node, step. apply exponential_holds.
  replace (IZR i * (IZR (Zpos num) / IZR (Zpos den))) with (IZR (i * Zpos num) / IZR (Zpos den)); [apply ratio_holds|].
  rewrite mult_IZR. field. now apply not_0_IZR.
Qed.

(* The bounds at the nodes i, i + 1, ..., at most 1, and made to fall. *)
Fixpoint values (T : top) (i : Z) (count : nat) : option (list (ends * Z)) :=
  match count with
  | O => Some []
  | S k =>
      match values T (i + 1) k with
      | Some rest =>
          let x := node_ends i in
          match T x with
          | Some t =>
              let t := Z.min (one p) t in
              Some ((x, match rest with (_, u) :: _ => Z.max t u | [] => t end) :: rest)
          | None => None
          end
      | None => None
      end
  end.

Lemma values_sound T C : tops p T C -> forall count i l, values T i count = Some l -> at_nodes p step i l /\
  forall Y P Q, C Y P Q -> forall f, test P f -> test Q f ->
  Forall (fun c => mean P f - fst c * mean Q f <= snd c) (node_points p step i l).
Proof.
  intros HT. induction count as [|k IH]; intros i l; simpl.
  - intro H. inversion H; subst. split; [exact Logic.I|]. intros. constructor.
  - destruct (values T (i + 1) k) as [rest|] eqn:E; [|discriminate]. destruct (T (node_ends i)) as [t|] eqn:Et; [|discriminate].
    intro H. inversion H; subst; clear H. destruct (IH _ _ E) as [H1 H2]. split.
    + split; [apply node_ends_holds | exact H1].
    + intros Y P Q HC f Pf Qf. cbn [node_points]. constructor; [|now apply (H2 Y)]. simpl.
      pose proof (HT _ _ _ (node_ends_holds i) (node_pos step i) Et Y P Q HC f Pf Qf) as B.
      pose proof (mean_bounds P f Pf). pose proof (mean_bounds Q f Qf). pose proof (node_pos step i).
      assert (mean P f - node step i * mean Q f <= real_of p (one p)) as B1.
      { assert (real_of p (one p) = 1) as -> by (unfold real_of; pose proof (one_posR p); field; lra). nra. }
      assert (mean P f - node step i * mean Q f <= real_of p (Z.min (one p) t)) as B2.
      { destruct (Z.min_spec (one p) t) as [[_ ->]|[_ ->]]; assumption. }
      destruct rest as [|[x u] rest]; [exact B2|]. eapply Rle_trans; [exact B2 | apply real_of_le; lia].
Qed.

Definition start_grid (T : top) (i last : Z) : option grid :=
  match values T i (Z.to_nat (last - i + 1)) with
  | Some l => match hull p mass_bits (whole p 0) (one p) l with
              | Some (_, ms, far) => Some (Grid i ms far)
              | None => None
              end
  | None => None
  end.

Lemma start_grid_sound T C i last g : tops p T C -> inhabited C -> start_grid T i last = Some g ->
  bounded (grid_profile step mass_bits g) C /\ non_negative g.
Proof.
  intros HT HI. unfold start_grid. destruct (values _ _ _) as [l|] eqn:E; [|discriminate].
  destruct (hull _ _ _ _ _) as [[[fall ms] far]|] eqn:EH; [|discriminate]. intro H. inversion H; subst.
  destruct (values_sound T C HT _ _ _ E) as [H1 H2].
  apply (hull_bounds p mass_bits bits_fit step step_pos C i l fall ms far EH H1 HI H2).
Qed.

(* Powers by squaring, from the lowest bit of the number of runs. *)

Definition product (a b : grid) : grid :=
  round_up mass_bits (into_window low high
    {| first := (first a + first b)%Z; units := convolve (units a) (units b);
       far := (far a * (total (units b) + far b) + total (units a) * far b)%Z |}).

Lemma product_compose a b : product a b = compose mass_bits low high a b.
Proof. unfold product, compose, exact_product. now rewrite convolve_correct. Qed.

Definition join (result : option grid) (g : grid) : grid :=
  match result with Some r => product r g | None => g end.

Fixpoint power (n : positive) (g : grid) (result : option grid) : grid :=
  match n with
  | xH => join result g
  | xO m => power m (product g g) result
  | xI m => power m (product g g) (Some (join result g))
  end.

Definition covered (g : grid) (As : list profile) : Prop :=
  non_negative g /\ Forall proper As /\ covers (grid_profile step mass_bits g) As.
Definition covered_result (result : option grid) (As : list profile) : Prop :=
  match result with Some g => covered g As | None => As = [] end.

Lemma product_covered a b As Bs : covered a As -> covered b Bs -> covered (product a b) (As ++ Bs).
Proof.
  intros [A1 [A2 A3]] [B1 [B2 B3]]. rewrite product_compose. split; [now apply compose_non_negative|]. split; [now apply Forall_app|].
  apply compose_covers; auto; [apply step_pos | lia].
Qed.

Lemma join_covered result g As Bs : covered_result result As -> covered g Bs -> covered (join result g) (As ++ Bs).
Proof. destruct result; simpl; intros H1 H2; [now apply product_covered | now subst]. Qed.

Lemma repeat_app {A} (a : A) m n : repeat a m ++ repeat a n = repeat a (m + n).
Proof. induction m; simpl; congruence. Qed.

Lemma power_covered A n : forall g m result As, covered g (repeat A m) -> covered_result result As ->
  covered (power n g result) (As ++ repeat A (Pos.to_nat n * m)).
Proof.
  induction n as [n IH|n IH|]; intros g m result As Hg Hr; simpl power.
  - assert (covered (product g g) (repeat A (m + m))) as H2 by (rewrite <- repeat_app; now apply product_covered).
    pose proof (IH (product g g) (m + m)%nat (Some (join result g)) (As ++ repeat A m) H2 (join_covered _ _ _ _ Hr Hg)) as G.
    rewrite <- app_assoc, repeat_app in G. replace (Pos.to_nat n~1 * m)%nat with (m + Pos.to_nat n * (m + m))%nat by lia. exact G.
  - assert (covered (product g g) (repeat A (m + m))) as H2 by (rewrite <- repeat_app; now apply product_covered).
    pose proof (IH _ _ _ _ H2 Hr) as G. replace (Pos.to_nat n~0 * m)%nat with (Pos.to_nat n * (m + m))%nat by lia. exact G.
  - rewrite Pos2Nat.inj_1, Nat.mul_1_l. now apply join_covered.
Qed.

Fixpoint all_grids (o : order) (releases : list release) (nodes : list (Z * Z)) (result : option grid) : option grid :=
  match releases, nodes with
  | [], [] => result
  | r :: releases', (i, last) :: nodes' =>
      let (i, last) := match o with backward => (- last, - i)%Z | _ => (i, last) end in
      match top_of_release p r with
      | Some T => match start_grid (orient_top p o T) i last with
                  | Some g => all_grids o releases' nodes' (Some (power (count r) g result))
                  | None => None
                  end
      | None => None
      end
  | _, _ => None
  end.

Lemma Forall2_repeat {A B} (Rel : A -> B -> Prop) a b n : Rel a b -> Forall2 Rel (repeat a n) (repeat b n).
Proof. intro H. induction n; simpl; constructor; assumption. Qed.

Lemma all_grids_sound o releases : forall nodes result g As Cs, all_grids o releases nodes result = Some g ->
  covered_result result As -> Forall2 bounded As Cs ->
  exists Bs, covered g (As ++ Bs) /\ Forall2 bounded (As ++ Bs) (Cs ++ run_classes (orient o) releases).
Proof.
  induction releases as [|r releases IH]; intros [|[i last] nodes] result g As Cs; simpl; try discriminate.
  - intros H Hr HB. subst. exists []. rewrite !app_nil_r. auto.
  - destruct (match o with backward => (- last, - i)%Z | _ => (i, last) end) as [i' last'].
    destruct (top_of_release p r) as [T|] eqn:ET; [|discriminate].
    destruct (start_grid (orient_top p o T) i' last') as [g0|] eqn:EG; [|discriminate].
    intros H Hr HB. destruct (top_of_release_sound p r T ET) as [HT HI].
    destruct (start_grid_sound _ _ _ _ _ (orient_sound p o T _ HT) (orient_inhabited o _ HI) EG) as [HB0 HN].
    set (A := grid_profile step mass_bits g0) in *.
    assert (proper A) as PA by (apply profile_proper; [left; apply unit_pos; lia | exact HN]).
    assert (covered g0 (repeat A 1)) as H1.
    { split; [exact HN|]. split; [constructor; [exact PA | constructor]|]. intros x Hx. simpl. apply Rle_refl. }
    pose proof (power_covered A (count r) g0 1 result As H1 Hr) as HP. rewrite Nat.mul_1_r in HP.
    assert (Forall2 bounded (As ++ repeat A (Pos.to_nat (count r))) (Cs ++ repeat (orient o (class_of_release r)) (Pos.to_nat (count r)))) as HB1
      by (apply Forall2_app; [exact HB | now apply Forall2_repeat]).
    destruct (IH nodes _ g _ _ H HP HB1) as [Bs [G1 G2]]. exists (repeat A (Pos.to_nat (count r)) ++ Bs).
    rewrite !app_assoc. split; assumption.
Qed.

(* delta at epsilon: the mass at infinity, and m (1 - e^(epsilon - i step)) for each node above epsilon. *)
Definition mass (m : Z) : ends := exactly (Z.shiftl m (Zpos p - mass_bits)).
Lemma mass_holds m : holds p (mass m) (unit_of mass_bits * IZR m).
Proof.
  unfold mass. pose proof (exactly_holds p (Z.shiftl m (Zpos p - mass_bits))) as H.
  replace (unit_of mass_bits * IZR m) with (real_of p (Z.shiftl m (Zpos p - mass_bits))); [exact H|].
  unfold real_of, unit_of. rewrite Z.shiftl_mul_pow2, mult_IZR by lia.
  pose proof (power_pos mass_bits ltac:(lia)). assert (0 < IZR (2 ^ (Zpos p - mass_bits))) by (apply power_pos; lia).
  assert (IZR (one p) = IZR (2 ^ mass_bits) * IZR (2 ^ (Zpos p - mass_bits))) as ->.
  { rewrite <- mult_IZR, <- Z.pow_add_r by lia. unfold one. f_equal. f_equal. lia. }
  field. lra.
Qed.

Fixpoint above_epsilon (eps : Q) (i : Z) (l : list Z) : ends :=
  match l with
  | [] => whole p 0
  | m :: rest =>
      let loss := Qmake (i * Zpos num) den in
      if (m =? 0)%Z || Qle_bool loss eps then above_epsilon eps (i + 1) rest
      else plus (Fixed.times p (mass m) (minus (whole p 1) (exponential p (real p (eps - loss)%Q)))) (above_epsilon eps (i + 1) rest)
  end.

Definition grid_delta (eps : Q) (g : grid) : ends := plus (mass (far g)) (above_epsilon eps (first g) (units g)).

Lemma loss_real i : Q2R (Qmake (i * Zpos num) den) = IZR i * step.
Proof. unfold Q2R, step. simpl. rewrite mult_IZR. field. now apply not_0_IZR. Qed.

Lemma above_epsilon_holds eps l : Forall (fun m => (0 <= m)%Z) l -> forall i,
  holds p (above_epsilon eps i l) (unit_of mass_bits * spread step l i hinge (exp (Q2R eps))).
Proof.
  intro H. induction H as [|m l Hm Hl IH]; intro i; cbn [above_epsilon spread].
  - rewrite Rmult_0_r. apply (whole_holds p 0).
  - assert (exp (Q2R eps) / node step i = exp (Q2R eps - IZR i * step)) as E.
    { unfold node, Rminus. rewrite exp_plus, exp_Ropp. reflexivity. }
    destruct (m =? 0)%Z eqn:E0; cbn [orb].
    { apply Z.eqb_eq in E0. subst. rewrite Rmult_0_l, Rplus_0_l. apply IH. }
    destruct (Qle_bool _ eps) eqn:EQ.
    + apply Qle_bool_iff, Qle_Rle in EQ. rewrite loss_real in EQ.
      replace (hinge (exp (Q2R eps) / node step i)) with 0; [rewrite Rmult_0_r, Rplus_0_l; apply IH|].
      unfold hinge. rewrite E, Rmax_left; [reflexivity|].
      enough (1 <= exp (Q2R eps - IZR i * step)) by lra. rewrite <- exp_0.
      destruct (Req_dec (Q2R eps - IZR i * step) 0) as [->|]; [lra | left; apply exp_increasing; lra].
    + assert (Q2R eps < IZR i * step) as L.
      { rewrite <- loss_real. apply Qlt_Rlt. apply Qnot_le_lt. intro L. apply Qle_bool_iff in L. congruence. }
      rewrite Rmult_plus_distr_l. apply plus_holds; [|apply IH]. rewrite <- Rmult_assoc. apply times_holds; [apply mass_holds|].
      unfold hinge. rewrite E, Rmax_right.
      * apply minus_holds; [apply (whole_holds p 1)|]. apply exponential_holds. rewrite <- loss_real, <- Q2R_minus. apply real_holds.
      * enough (exp (Q2R eps - IZR i * step) < 1) by lra. rewrite <- exp_0. apply exp_increasing. lra.
Qed.

Lemma grid_delta_holds eps g : non_negative g -> holds p (grid_delta eps g) (curve (grid_profile step mass_bits g) (exp (Q2R eps))).
Proof.
  intros [H0 H1]. unfold grid_delta, curve, grid_profile. rewrite act_profile, hinge_0, Rmult_1_r, Rmult_plus_distr_l.
  apply plus_holds; [apply mass_holds | now apply above_epsilon_holds].
Qed.

(* The whole rule for one order. *)
Definition grid_rule (o : order) (releases : list release) (nodes : list (Z * Z)) (eps : Q) : ends :=
  match all_grids o releases nodes None with Some g => grid_delta eps g | None => None end.

Theorem grid_rule_sound o releases nodes eps : exists bound,
  holds p (grid_rule o releases nodes eps) bound
  /\ (grid_rule o releases nodes eps <> None -> delta_at_most (run_classes (orient o) releases) (Q2R eps) bound).
Proof.
  unfold grid_rule. destruct (all_grids o releases nodes None) as [g|] eqn:E; [|exists 0; split; [exact Logic.I | congruence]].
  destruct (all_grids_sound o releases nodes None g [] [] E eq_refl (Forall2_nil _)) as [Bs [[H0 [H1 H2]] H3]]. simpl in *.
  exists (curve (grid_profile step mass_bits g) (exp (Q2R eps))). split; [now apply grid_delta_holds|]. intros _ s Hs f Hf.
  pose proof (exp_pos (Q2R eps)). eapply Rle_trans; [apply (composition Bs _ H1 H3 s Hs f Hf); lra|]. apply H2. lra.
Qed.
End GridRule.

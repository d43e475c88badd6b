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

(* Nodes i, i + 1, ..., each with a bound of all tests: they are computed once, and serve both orders. *)
Definition bound_at : Type := ends * option Z.
Definition bounds_node (C : class) (i : Z) (b : bound_at) : Prop :=
  holds p (fst b) (node step i) /\ forall t, snd b = Some t -> bounds_tests C (node step i) (real_of p t).
Fixpoint bounds_nodes (C : class) (i : Z) (bounds : list bound_at) : Prop :=
  match bounds with [] => True | b :: rest => bounds_node C i b /\ bounds_nodes C (i + 1) rest end.

Fixpoint top_bounds (T : top) (i : Z) (count : nat) : list bound_at :=
  match count with O => [] | S k => let x := node_ends i in (x, T x) :: top_bounds T (i + 1) k end.

Lemma top_bounds_hold T C : tops p T C -> forall count i, bounds_nodes C i (top_bounds T i count).
Proof.
  intros HT. induction count as [|k IH]; intro i; simpl; [exact Logic.I|]. split; [|apply IH]. split; [apply node_ends_holds|]. intros t Ht.
  apply (HT _ _ _ (node_ends_holds i) (node_pos step i) Ht).
Qed.

(* In the other order, from the last node to the first: 1 - x + x G(1/x). *)
Definition other_node (i : Z) (x : ends) : ends :=
  match x with Some (a, _) => if (one p <=? a)%Z then over p (whole p 1) x else node_ends (- i) | None => None end.
Definition other_bound (i : Z) (b : bound_at) : bound_at :=
  let x := other_node i (fst b) in
  (x, match snd b with Some t => upper_end (plus (minus (whole p 1) x) (Fixed.times p x (exactly t))) | None => None end).
Fixpoint other_bounds (i : Z) (bounds others : list bound_at) : list bound_at :=
  match bounds with [] => others | b :: rest => other_bounds (i + 1) rest (other_bound i b :: others) end.

Lemma other_bound_holds C i b : bounds_node C i b -> bounds_node (reversed C) (- i) (other_bound i b).
Proof.
  intros [HX H]. assert (node step (- i) * node step i = 1) as E.
  { unfold node. rewrite <- exp_plus, opp_IZR. replace (- IZR i * step + IZR i * step) with 0 by ring. apply exp_0. }
  pose proof (node_pos step (- i)) as Hx. pose proof (node_pos step i) as Hi.
  assert (holds p (other_node i (fst b)) (node step (- i))) as HO.
  { unfold other_node. destruct (fst b) as [[a c]|] eqn:Eb; [|exact Logic.I]. destruct (one p <=? a)%Z; [|apply node_ends_holds].
    replace (node step (- i)) with (1 / node step i) by (rewrite <- E; field; lra). apply over_holds; [apply (whole_holds p 1) | exact HX]. }
  unfold other_bound. cbv zeta. set (x := other_node i (fst b)) in *. split; cbn [fst snd]; [exact HO|]. intro t.
  destruct (snd b) as [s|]; [|discriminate]. intros Ht Y P Q HC f Pf Qf.
  eapply Rle_trans; [|eapply (upper_end_ge p _ _ (1 - node step (- i) + node step (- i) * real_of p s)); [|exact Ht]].
  - pose proof (H s eq_refl Y Q P HC _ (test_not Q f Qf) (test_not P f Pf)) as B. rewrite !mean_not in B by (apply Pf || apply Qf).
    apply (Rmult_le_compat_l (node step (- i))) in B; [|lra].
    replace (node step (- i) * (1 - mean Q f - node step i * (1 - mean P f)))
      with (node step (- i) * (1 - mean Q f) - node step (- i) * node step i * (1 - mean P f)) in B by ring.
    rewrite E in B. lra.
  - apply plus_holds; [apply minus_holds; [apply (whole_holds p 1) | exact HO]|]. apply times_holds; [exact HO | apply exactly_holds].
Qed.

Lemma other_bounds_hold C bounds : forall i others, bounds_nodes C i bounds -> bounds_nodes (reversed C) (1 - i) others ->
  bounds_nodes (reversed C) (1 - (i + Z.of_nat (length bounds))) (other_bounds i bounds others).
Proof.
  induction bounds as [|b bounds IH]; intros i others; cbn [bounds_nodes other_bounds length].
  - intros _ H. now replace (1 - (i + Z.of_nat 0))%Z with (1 - i)%Z by lia.
  - intros [H1 H2] H3. replace (i + Z.of_nat (S (length bounds)))%Z with (i + 1 + Z.of_nat (length bounds))%Z by lia.
    apply IH; [exact H2|]. replace (1 - (i + 1))%Z with (- i)%Z by lia. split; [now apply other_bound_holds|].
    now replace (- i + 1)%Z with (1 - i)%Z by lia.
Qed.

(* Where each run has its own order, the larger bound at each node. *)
Fixpoint larger_bounds (T : top) (i : Z) (bounds : list bound_at) : list bound_at :=
  match bounds with
  | [] => []
  | b :: rest => (fst b, larger_top (fun _ => snd b) (backward_top p T) (fst b)) :: larger_bounds T (i + 1) rest
  end.

Lemma larger_bounds_hold T C : tops p T C -> forall bounds i, bounds_nodes C i bounds -> bounds_nodes (either C) i (larger_bounds T i bounds).
Proof.
  intros HT. induction bounds as [|b bounds IH]; intro i; simpl; [auto|]. intros [[HX H1] H2]. split; [|now apply IH].
  split; [exact HX|]. cbn [fst snd]. intros t Ht Y P Q HC f Pf Qf.
  unfold larger_top in Ht. destruct (snd b) as [s|]; [|discriminate]. destruct (backward_top p T (fst b)) as [u|] eqn:Eu; [|discriminate].
  injection Ht as <-. destruct HC as [HC|HC].
  - eapply Rle_trans; [apply (H1 s eq_refl Y P Q HC f Pf Qf) | apply real_of_le; lia].
  - eapply Rle_trans; [apply (tops_backward p T C HT _ _ u HX (node_pos step i) Eu Y P Q HC f Pf Qf) | apply real_of_le; lia].
Qed.

(* At most 1, and made to fall. *)
Fixpoint values (bounds : list bound_at) : option (list (ends * Z)) :=
  match bounds with
  | [] => Some []
  | b :: more =>
      match values more, snd b with
      | Some rest, Some t =>
          let t := Z.min (one p) t in
          Some ((fst b, match rest with (_, u) :: _ => Z.max t u | [] => t end) :: rest)
      | _, _ => None
      end
  end.

Lemma values_sound C bounds : forall i l, bounds_nodes C i bounds -> values bounds = Some l -> at_nodes p step i l /\
  forall Y P Q, C Y P Q -> forall f, test P f -> test Q f ->
  Forall (fun c => mean P f - fst c * mean Q f <= snd c) (node_points p step i l).
Proof.
  induction bounds as [|b bounds IH]; intros i l; cbn [bounds_nodes values].
  - intros _ H. inversion H; subst. split; [exact Logic.I|]. intros. constructor.
  - intros [[HX HT] HB]. destruct (values bounds) as [rest|] eqn:E; [|discriminate]. destruct (snd b) as [t|]; [|discriminate].
    intro H. inversion H; subst; clear H. destruct (IH _ _ HB eq_refl) as [H1 H2]. split.
    + split; [exact HX | exact H1].
    + intros Y P Q HC f Pf Qf. cbn [node_points]. constructor; [|now apply (H2 Y)]. simpl.
      pose proof (HT t eq_refl Y P Q HC f Pf Qf) as B.
      pose proof (mean_bounds P f Pf). pose proof (mean_bounds Q f Qf). pose proof (node_pos step i).
      assert (mean P f - node step i * mean Q f <= real_of p (one p)) as B1.
      { assert (real_of p (one p) = 1) as -> by (unfold real_of; pose proof (one_posR p); field; lra). nra. }
      assert (mean P f - node step i * mean Q f <= real_of p (Z.min (one p) t)) as B2.
      { destruct (Z.min_spec (one p) t) as [[_ ->]|[_ ->]]; assumption. }
      destruct rest as [|[x u] rest]; [exact B2|]. eapply Rle_trans; [exact B2 | apply real_of_le; lia].
Qed.

Definition start_grid (i : Z) (bounds : list bound_at) : option grid :=
  match values bounds with
  | Some l => match hull p mass_bits (whole p 0) (one p) l with
              | Some (_, ms, far) => Some (Grid i ms far)
              | None => None
              end
  | None => None
  end.

Lemma start_grid_sound C i bounds g : bounds_nodes C i bounds -> inhabited C -> start_grid i bounds = Some g ->
  bounded (grid_profile step mass_bits g) C /\ non_negative g.
Proof.
  intros HT HI. unfold start_grid. destruct (values _) as [l|] eqn:E; [|discriminate].
  destruct (hull _ _ _ _ _) as [[[fall ms] far]|] eqn:EH; [|discriminate]. intro H. inversion H; subst.
  destruct (values_sound C _ _ _ HT E) as [H1 H2].
  apply (hull_bounds p mass_bits bits_fit step step_pos C i l fall ms far EH H1 HI H2).
Qed.

(* The bounds of each release at its nodes, and in each order the first node with its bounds. *)
Definition release_bounds (r : release) (nodes : Z * Z) : list bound_at :=
  match top_of_release p r with Some T => top_bounds T (fst nodes) (Z.to_nat (snd nodes - fst nodes + 1)) | None => [] end.
Fixpoint all_bounds (releases : list release) (nodes : list (Z * Z)) : list (list bound_at) :=
  match releases, nodes with r :: releases', n :: nodes' => release_bounds r n :: all_bounds releases' nodes' | _, _ => [] end.

Definition in_order (o : order) (T : top) (i : Z) (bounds : list bound_at) : Z * list bound_at :=
  match o with
  | forward => (i, bounds)
  | backward => (1 - (i + Z.of_nat (length bounds)), other_bounds i bounds [])%Z
  | unnamed => (i, larger_bounds T i bounds)
  end.

Lemma in_order_holds o T C i bounds : tops p T C -> bounds_nodes C i bounds ->
  bounds_nodes (orient o C) (fst (in_order o T i bounds)) (snd (in_order o T i bounds)).
Proof.
  intros HT H. destruct o; simpl; [exact H | now apply other_bounds_hold | now apply larger_bounds_hold].
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

Fixpoint all_grids (o : order) (releases : list release) (nodes : list (Z * Z)) (bounds : list (list bound_at)) (result : option grid)
    : option grid :=
  match releases, nodes, bounds with
  | [], [], _ => result
  | r :: releases', n :: nodes', bs :: bounds' =>
      match top_of_release p r with
      | Some T => let (i, bs) := in_order o T (fst n) bs in
                  match start_grid i bs with
                  | Some g => all_grids o releases' nodes' bounds' (Some (power (count r) g result))
                  | None => None
                  end
      | None => None
      end
  | _, _, _ => None
  end.

Lemma Forall2_repeat {A B} (Rel : A -> B -> Prop) a b n : Rel a b -> Forall2 Rel (repeat a n) (repeat b n).
Proof. intro H. induction n; simpl; constructor; assumption. Qed.

Lemma all_grids_sound o releases : forall nodes result g As Cs, all_grids o releases nodes (all_bounds releases nodes) result = Some g ->
  covered_result result As -> Forall2 bounded As Cs ->
  exists Bs, covered g (As ++ Bs) /\ Forall2 bounded (As ++ Bs) (Cs ++ run_classes (orient o) releases).
Proof.
  induction releases as [|r releases IH]; intros [|n nodes] result g As Cs; cbn [all_bounds all_grids]; try discriminate.
  - intros H Hr HB. subst. exists []. rewrite !app_nil_r. auto.
  - destruct (top_of_release p r) as [T|] eqn:ET; [|discriminate]. destruct (top_of_release_sound p r T ET) as [HT HI].
    assert (bounds_nodes (class_of_release r) (fst n) (release_bounds r n)) as HR by (unfold release_bounds; rewrite ET; now apply top_bounds_hold).
    pose proof (in_order_holds o T _ _ _ HT HR) as HO. destruct (in_order o T (fst n) (release_bounds r n)) as [i bs]. cbn [fst snd] in HO.
    destruct (start_grid i bs) as [g0|] eqn:EG; [|discriminate]. intros H Hr HB.
    destruct (start_grid_sound _ _ _ _ HO (orient_inhabited o _ HI) EG) as [HB0 HN].
    set (A := grid_profile step mass_bits g0) in *.
    assert (proper A) as PA by (apply profile_proper; [left; apply unit_pos; lia | exact HN]).
    assert (covered g0 (repeat A 1)) as H1.
    { split; [exact HN|]. split; [constructor; [exact PA | constructor]|]. intros x Hx. simpl. apply Rle_refl. }
    pose proof (power_covered A (count r) g0 1 result As H1 Hr) as HP. rewrite Nat.mul_1_r in HP.
    assert (Forall2 bounded (As ++ repeat A (Pos.to_nat (count r))) (Cs ++ repeat (orient o (class_of_release r)) (Pos.to_nat (count r)))) as HB1
      by (apply Forall2_app; [exact HB | now apply Forall2_repeat]).
    destruct (IH nodes _ g _ _ H HP HB1) as [Bs [G1 G2]]. exists (repeat A (Pos.to_nat (count r)) ++ Bs).
    change (run_classes (orient o) (r :: releases)) with (repeat (orient o (class_of_release r)) (Pos.to_nat (count r)) ++ run_classes (orient o) releases).
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
Definition grid_rule (o : order) (releases : list release) (nodes : list (Z * Z)) (bounds : list (list bound_at)) (eps : Q) : ends :=
  match all_grids o releases nodes bounds None with Some g => grid_delta eps g | None => None end.

Theorem grid_rule_sound o releases nodes eps : exists bound,
  holds p (grid_rule o releases nodes (all_bounds releases nodes) eps) bound
  /\ (grid_rule o releases nodes (all_bounds releases nodes) eps <> None -> delta_at_most (run_classes (orient o) releases) (Q2R eps) bound).
Proof.
  unfold grid_rule. destruct (all_grids o releases nodes _ None) as [g|] eqn:E; [|exists 0; split; [exact Logic.I | congruence]].
  destruct (all_grids_sound o releases nodes None g [] [] E eq_refl (Forall2_nil _)) as [Bs [[H0 [H1 H2]] H3]]. simpl in *.
  exists (curve (grid_profile step mass_bits g) (exp (Q2R eps))). split; [now apply grid_delta_holds|]. intros _ s Hs f Hf.
  pose proof (exp_pos (Q2R eps)). eapply Rle_trans; [apply (composition Bs _ H1 H3 s Hs f Hf); lra|]. apply H2. lra.
Qed.
End GridRule.

(* Masses on a grid that one pair of laws attains: the checker's numbers.

   Outcomes are sorted into cells between the nodes. Each node takes a share of its own cell and the rest of the cell below, and has
   the mass x q where p >= x q is certain. Any order of the outcomes and any shares are sound. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Permutation Mergesort Orders FunctionalExtensionality.
Import ListNotations.
From DP Require Import Law Profile Compose Grid Fixed Above Lower Parts.
Open Scope R_scope.

Module CellOrder <: TotalLeBool.
  Definition t : Type := (ends * ends)%type.
  Definition above (c : t) : Z := match fst c with Some (_, b) => b | None => 0 end.
  Definition below (c : t) : Z := match snd c with Some (a, _) => a | None => 0 end.
  Definition leb (c d : t) : bool := (above c * below d <=? above d * below c)%Z.
  Theorem leb_total c d : leb c d = true \/ leb d c = true.
  Proof. unfold leb. destruct (Z.leb_spec (above c * below d) (above d * below c)); [now left | right; apply Z.leb_le; lia]. Qed.
End CellOrder.
Module CellSort := Sort CellOrder.

Section Cells.
Variable p : positive.

Definition no_cell : cell := (whole p 0, whole p 0).
Definition add_cells (c d : cell) : cell := (plus (fst c) (fst d), plus (snd c) (snd d)).
Definition lower_end (u : ends) : Z := match u with Some (a, _) => a | None => 0 end.

Definition higher_end (u : ends) : Z := match u with Some (_, b) => b | None => 0 end.

(* The outcomes up to the first one whose ratio reaches x; and the others. *)
Fixpoint up_to (x : ends) (sum : cell) (l : list cell) : cell * list cell :=
  match l with
  | [] => (sum, [])
  | c :: rest => if (lower_end x * CellOrder.below c <=? CellOrder.above c * one p)%Z then (sum, l) else up_to x (add_cells sum c) rest
  end.
Fixpoint cells_between (l : list cell) (xs : list ends) : list cell :=
  match xs with
  | [] => [fold_left add_cells l no_cell]
  | x :: xs' => let (c, rest) := up_to x no_cell l in c :: cells_between rest xs'
  end.

(* Shares in units of 2^-p (README, section 3): solved from both ends, and joined where least is lost. *)
Definition spare : Z := (one p / 2 ^ 80)%Z.
Definition excesses (cs : list cell) (xs : list ends) : list (Z * Z) :=  (* of p over x q at a cell's node, and of x q over p at the next *)
  map (fun d => let '(c, (x, next)) := d in
         (Z.max 0 (lower_end (minus (fst c) (times p x (snd c)))), Z.max 1 (higher_end (minus (times p next (snd c)) (fst c)))))
    (combine cs (combine xs (tl xs ++ [None]))).
Fixpoint rights (l : list (Z * Z)) : list (Z * Z) :=  (* the share, and what is lost from here on *)
  match l with
  | [] => []
  | (_, under) :: rest =>
      match rights rest, rest with
      | ((r, lost) :: _) as rs, (over, _) :: _ =>
          let share := (one p - Z.max 0 (r - spare) * over / under)%Z in
          (Z.max 0 share, lost + Z.max 0 (- share) * under)%Z :: rs
      | _, _ => [(one p, 0%Z)]
      end
  end.
Fixpoint lefts (before : option (Z * Z)) (l : list (Z * Z)) : list Z :=
  match l with
  | [] => []
  | (over, under) :: rest =>
      let share := match before with
                   | Some (s, u) => (spare + (one p - s) * u / Z.max over 1)%Z
                   | None => 0%Z
                   end in
      if (share <=? one p)%Z then share :: lefts (Some (share, under)) rest else []
  end.
(* The node where least is lost, and how much. *)
Fixpoint meeting (k : nat) (best : option (nat * Z)) (ls : list Z) (rs l : list (Z * Z)) : option (nat * Z) :=
  match ls, rs, l with
  | at_left :: ls', (at_right, lost) :: rs', (over, _) :: l' =>
      let loss := (lost + (at_right - at_left) * over)%Z in
      let better := match best with Some (_, least) => (loss <? least)%Z | None => true end in
      meeting (S k) (if (at_left <=? at_right)%Z && better then Some (k, loss) else best) ls' rs' l'
  | _, _, _ => best
  end.
Definition shares (cs : list cell) (xs : list ends) : list Z :=
  let l := excesses cs xs in
  let rs := rights l in let ls := lefts None l in
  let k := match meeting 0 None ls rs l with Some (k, _) => k | None => pred (length l) end in
  firstn k ls ++ skipn k (map fst rs).

(* For each node the mass of its group, and what of it goes to the node before. *)
Definition certain (x : ends) (c : cell) : option Z :=
  match times p x (snd c), fst c with Some (a, b), Some (least, _) => if (b <=? least)%Z then Some (Z.max 0 a) else None | _, _ => None end.
Fixpoint place (carry : cell) (before : ends) (xs : list ends) (cs : list cell) (ss : list Z) : list (Z * Z) :=
  match xs, cs with
  | x :: xs', c :: cs' =>
      let s := Z.max 0 (Z.min (one p) (hd (one p) ss)) in
      let own := exactly s in let rest := exactly (one p - s) in
      let group := add_cells (times p own (fst c), times p own (snd c)) carry in
      (match certain x group, certain before group with
       | Some m, _ => (m, 0%Z)
       | None, Some m => (0%Z, m)
       | None, None => (0%Z, 0%Z)
       end) :: place (times p rest (fst c), times p rest (snd c)) x xs' cs' (tl ss)
  | _, _ => []
  end.
Fixpoint joined (l : list (Z * Z)) : list Z :=
  match l with [] => [] | (m, _) :: rest => (m + match rest with (_, b) :: _ => b | [] => 0 end)%Z :: joined rest end.

Section Pair.
Context {O : Type}.
Variables P Q : law O.
Let encloses := @encloses p O P Q.
Let good := @good O P Q.
Let matches := @matches p O P Q.

Lemma good_zero : good (fun _ => 0).
Proof. repeat split; try apply measurable_const. intro; lra. Qed.
Lemma good_sum f g : good f -> good g -> good (fun o => f o + g o).
Proof. intros [F1 [F2 F3]] [G1 [G2 G3]]. repeat split; [now apply measurable_plus | now apply measurable_plus|]. intro o. specialize (F3 o). specialize (G3 o). lra. Qed.
Lemma good_scale c f : 0 <= c -> good f -> good (fun o => c * f o).
Proof. intros Hc [F1 [F2 F3]]. repeat split; [now apply measurable_scale | now apply measurable_scale|]. intro o. specialize (F3 o). nra. Qed.
Lemma encloses_zero : encloses (fun _ => 0) no_cell.
Proof. split; rewrite mean_const; apply (whole_holds p 0). Qed.
Lemma encloses_sum f g c d : good f -> good g -> encloses f c -> encloses g d -> encloses (fun o => f o + g o) (add_cells c d).
Proof.
  intros [F1 [F2 _]] [G1 [G2 _]] [E1 E2] [D1 D2]. split; rewrite mean_plus by assumption; now apply plus_holds.
Qed.
Lemma encloses_scale s f c : good f -> encloses f c -> encloses (fun o => real_of p s * f o) (times p (exactly s) (fst c), times p (exactly s) (snd c)).
Proof.
  intros [F1 [F2 _]] [E1 E2]. split; rewrite mean_scale by assumption; (apply times_holds; [apply exactly_holds | assumption]).
Qed.

Ltac each := repeat match goal with |- _ /\ _ => split end.
Ltac lists := unfold matches, Parts.matches in *; each; try first [apply Forall_nil | apply Forall2_nil | apply Forall_cons | apply Forall2_cons].

Lemma up_to_sound x l : forall sum fs g d rest, up_to x sum l = (d, rest) -> good g -> encloses g sum -> matches fs l ->
  exists h gs, good h /\ encloses h d /\ matches gs rest /\ forall o, h o + Profile.sum (fun f => f o) gs = g o + Profile.sum (fun f => f o) fs.
Proof.
  induction l as [|c l IH]; intros sum fs g d rest H Hg Eg [F E]; cbn [up_to] in H.
  - inversion H; subst. exists g, fs. each; auto. now split.
  - destruct (_ <=? _)%Z; [inversion H; subst; exists g, fs; each; auto; now split|].
    inversion E as [|f ? fs' ? Ef Efs]; subst. inversion F as [|? ? Gf Gfs]; subst.
    destruct (IH _ fs' (fun o => g o + f o) d rest H (good_sum _ _ Hg Gf) (encloses_sum _ _ _ _ Hg Gf Eg Ef) (conj Gfs Efs)) as [h [gs [H1 [H2 [H3 H4]]]]].
    exists h, gs. each; auto; try apply H3. intro o. rewrite H4. simpl. ring.
Qed.

Lemma all_sound l : forall fs g d, good g -> encloses g d -> matches fs l ->
  exists h, good h /\ encloses h (fold_left add_cells l d) /\ forall o, h o = g o + Profile.sum (fun f => f o) fs.
Proof.
  induction l as [|c l IH]; intros fs g d Hg Eg [F E]; inversion E as [|f ? fs' ? Ef Efs]; subst; simpl.
  - exists g. each; try apply Hg; try apply Eg. intro o. ring.
  - inversion F as [|? ? Gf Gfs]; subst.
    destruct (IH fs' (fun o => g o + f o) _ (good_sum _ _ Hg Gf) (encloses_sum _ _ _ _ Hg Gf Eg Ef) (conj Gfs Efs)) as [h [H1 [H2 H3]]].
    exists h. each; try apply H1; try apply H2. intro o. rewrite H3. ring.
Qed.

Lemma cells_between_sound xs : forall l fs, matches fs l -> exists gs, matches gs (cells_between l xs)
  /\ forall o, Profile.sum (fun f => f o) gs = Profile.sum (fun f => f o) fs.
Proof.
  induction xs as [|x xs IH]; intros l fs H; simpl.
  - destruct (all_sound l fs (fun _ => 0) no_cell good_zero encloses_zero H) as [h [H1 [H2 H3]]].
    exists [h]. split; [split; constructor; auto|]. intro o. simpl. rewrite H3. ring.
  - destruct (up_to x no_cell l) as [c rest] eqn:E.
    destruct (up_to_sound x l no_cell fs (fun _ => 0) c rest E good_zero encloses_zero H) as [h [gs [H1 [H2 [H3 H4]]]]].
    destruct (IH rest gs H3) as [gs' [[H5 H6] H7]]. exists (h :: gs'). split; [split; constructor; auto|].
    intro o. simpl. rewrite H7, H4. ring.
Qed.

Variable step : R.
Variable c : R.  (* the nodes are e^(i step)/c *)
Hypothesis c_pos : 0 < c.
Let at_node (i : Z) : R := node step i / c.
Lemma at_node_pos i : 0 < at_node i.
Proof. apply Rmult_lt_0_compat; [apply node_pos | now apply Rinv_0_lt_compat]. Qed.

Fixpoint on_nodes (i : Z) (xs : list ends) : Prop := match xs with [] => True | x :: rest => holds p x (at_node i) /\ on_nodes (i + 1) rest end.

Definition worth (i : Z) (x : R) : R := hinge (x / at_node i).
Fixpoint placed (l : list (Z * Z)) (i : Z) (x : R) : R :=
  match l with [] => 0 | (m, b) :: rest => real_of p m * worth i x + real_of p b * worth (i - 1) x + placed rest (i + 1) x end.

Lemma certain_sound x r group m h : certain x group = Some m -> holds p x r -> 0 < r -> good h -> encloses h group ->
  r * mean Q h <= mean P h /\ 0 <= real_of p m <= r * mean Q h.
Proof.
  intros H Hx Hr [_ [M N]] [E1 E2]. unfold certain in H.
  pose proof (times_holds p _ _ _ _ Hx E2) as T. destruct (times p x (snd group)) as [[a b]|]; [|discriminate].
  destruct (fst group) as [[least u]|]; [|discriminate]. destruct (Z.leb_spec b least) as [L|]; [|discriminate].
  inversion H; subst m; clear H. simpl in T, E1. apply IZR_le in L. pose proof (one_posR p).
  pose proof (mean_nonneg Q h M N) as Q0. assert (0 <= r * mean Q h) by nra. split.
  - apply Rmult_le_reg_r with (IZR (one p)); lra.
  - unfold real_of. split.
    + apply Rmult_le_pos; [apply IZR_le; lia | left; now apply Rinv_0_lt_compat].
    + apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
      replace (IZR (Z.max 0 a) / IZR (one p) * IZR (one p)) with (IZR (Z.max 0 a)) by (field; lra).
      destruct (Z.max_spec 0 a) as [[_ ->]|[_ ->]]; [lra | nra].
Qed.

Lemma real_of_0 : real_of p 0 = 0.
Proof. unfold real_of, Rdiv. ring. Qed.

Lemma place_sound xs : forall i carry before cs ss g fs, on_nodes i xs -> holds p before (at_node (i - 1)) -> good g -> encloses g carry ->
  matches fs cs -> exists hs atoms, Forall good hs /\ (forall o, Profile.sum (fun f => f o) hs <= g o + Profile.sum (fun f => f o) fs)
  /\ Forall2 (fun f a => fst a <= mean P f /\ mean Q f <= fst a / snd a) hs atoms
  /\ Forall (fun a => 0 <= fst a /\ 0 < snd a) atoms
  /\ Forall (fun m => (0 <= fst m /\ 0 <= snd m)%Z) (place carry before xs cs ss)
  /\ forall x, placed (place carry before xs cs ss) i x <= Profile.sum (fun a => fst a * hinge (x / snd a)) atoms.
Proof.
  induction xs as [|x xs IH]; intros i carry before cs ss g fs Hx Hb Hg Eg [F E].
  - exists [], []. simpl. lists; [|intro; lra]. intro o. destruct Hg as [_ [_ Hg]]. specialize (Hg o).
    assert (0 <= Profile.sum (fun f => f o) fs) by (apply sum_nonneg; intros f Hf; rewrite Forall_forall in F; now apply (F f Hf)). lra.
  - destruct cs as [|d cs].
    { exists [], []. simpl. lists; [|intro; lra]. intro o. destruct Hg as [_ [_ Hg]]. specialize (Hg o).
      assert (0 <= Profile.sum (fun f => f o) fs) by (apply sum_nonneg; intros f Hf; rewrite Forall_forall in F; now apply (F f Hf)). lra. }
    inversion E as [|f ? fs' ? Ef Efs]; subst. inversion F as [|? ? Gf Gfs]; subst. destruct Hx as [Hx Hxs]. cbn [place].
    set (s := Z.max 0 (Z.min (one p) (hd (one p) ss))). pose proof (one_pos p) as Ho. pose proof (one_posR p) as HoR.
    assert (0 <= s <= one p)%Z as Hs by (unfold s; lia).
    assert (0 <= real_of p s /\ 0 <= real_of p (one p - s) /\ real_of p s + real_of p (one p - s) = 1) as [S1 [S2 S3]].
    { unfold real_of. rewrite minus_IZR. assert (0 <= IZR s) by (apply IZR_le; lia). assert (IZR s <= IZR (one p)) by (apply IZR_le; lia).
      assert (0 < / IZR (one p)) by now apply Rinv_0_lt_compat. each; [nra | nra | field; lra]. }
    set (group := add_cells _ carry). set (h := fun o => real_of p s * f o + g o).
    assert (good h) as Gh by (apply good_sum; [now apply good_scale | exact Hg]).
    assert (encloses h group) as Eh by (apply encloses_sum; [now apply good_scale | exact Hg | now apply encloses_scale | exact Eg]).
    destruct (IH (i + 1)%Z (times p (exactly (one p - s)) (fst d), times p (exactly (one p - s)) (snd d)) x cs (tl ss) (fun o => real_of p (one p - s) * f o) fs' Hxs) as [hs [atoms [H1 [H2 [H3 [H4 [H5 H6]]]]]]];
      [now replace (i + 1 - 1)%Z with i by lia | now apply good_scale | now apply encloses_scale | now split |].
    assert (forall o, Profile.sum (fun f => f o) hs <= g o + (f o + Profile.sum (fun f => f o) fs') - h o) as H2'.
    { intro o. specialize (H2 o). unfold h. replace (f o) with ((real_of p s + real_of p (one p - s)) * f o) at 1 by (rewrite S3; ring). lra. }
    pose proof (mean_nonneg Q h (proj1 (proj2 Gh)) (proj2 (proj2 Gh))) as Q0.
    assert (forall k m, certain (if (k =? i)%Z then x else before) group = Some m -> (k = i \/ k = i - 1)%Z ->
      exists hs' atoms', Forall good hs' /\ (forall o, Profile.sum (fun f => f o) hs' <= g o + (f o + Profile.sum (fun f => f o) fs'))
      /\ Forall2 (fun f a => fst a <= mean P f /\ mean Q f <= fst a / snd a) hs' atoms'
      /\ Forall (fun a => 0 <= fst a /\ 0 < snd a) atoms' /\ (0 <= m)%Z
      /\ forall y, real_of p m * worth k y + Profile.sum (fun a => fst a * hinge (y / snd a)) atoms
                   <= Profile.sum (fun a => fst a * hinge (y / snd a)) atoms') as G.
    { intros k m Hm Hk. pose proof (at_node_pos k) as Np.
      assert (holds p (if (k =? i)%Z then x else before) (at_node k)) as Hk'.
      { destruct Hk as [->| ->]; [now rewrite Z.eqb_refl|]. destruct (Z.eqb_spec (i - 1) i); [lia | exact Hb]. }
      destruct (certain_sound _ _ _ _ h Hm Hk' Np Gh Eh) as [C1 [C2 C3]].
      exists (h :: hs), ((at_node k * mean Q h, at_node k) :: atoms). each.
      - constructor; assumption.
      - intro o. simpl. specialize (H2' o). lra.
      - constructor; [|assumption]. simpl. split; [exact C1|]. right. field. lra.
      - constructor; [|assumption]. simpl. split; [nra | exact Np].
      - apply le_IZR. unfold real_of in C2. apply Rmult_le_reg_r with (/ IZR (one p)); [now apply Rinv_0_lt_compat|]. rewrite Rmult_0_l. exact C2.
      - intro y. simpl. unfold worth. pose proof (hinge_nonneg (y / at_node k)). nra. }
    destruct (certain x group) as [m|] eqn:Ec; [|destruct (certain before group) as [m|] eqn:Eb].
    + destruct (G i m ltac:(now rewrite Z.eqb_refl) (or_introl eq_refl)) as [hs' [atoms' [G1 [G2 [G3 [G4 [G5 G6]]]]]]].
      exists hs', atoms'. each; auto; [constructor; [simpl; lia | assumption]|]. intro y. cbn [placed]. rewrite real_of_0. specialize (H6 y). specialize (G6 y). lra.
    + destruct (G (i - 1)%Z m) as [hs' [atoms' [G1 [G2 [G3 [G4 [G5 G6]]]]]]]; [destruct (Z.eqb_spec (i - 1) i); [lia | exact Eb] | now right |].
      exists hs', atoms'. each; auto; [constructor; [simpl; lia | assumption]|]. intro y. cbn [placed]. rewrite real_of_0. specialize (H6 y). specialize (G6 y). lra.
    + exists hs, atoms. each; auto; [|constructor; [simpl; lia | assumption]|].
      * intro o. specialize (H2' o). destruct Gh as [_ [_ Gh]]. specialize (Gh o). simpl. lra.
      * intro y. cbn [placed]. rewrite real_of_0. specialize (H6 y). lra.
Qed.

(* Masses in whole units, rounded down. *)
Variable mass_bits : Z.
Hypothesis bits_fit : (0 <= mass_bits <= Zpos p)%Z.
Definition units_below (m : Z) : Z := Z.shiftr (Z.max 0 m) (Zpos p - mass_bits).

Lemma units_below_le m : (0 <= m)%Z -> unit_of mass_bits * IZR (units_below m) <= real_of p m.
Proof.
  intro Hm. unfold units_below, real_of, unit_of. rewrite Z.max_r by lia. rewrite Z.shiftr_div_pow2 by lia.
  pose proof (power_pos mass_bits ltac:(lia)). assert (0 < IZR (2 ^ (Zpos p - mass_bits))) as Hk by (apply power_pos; lia).
  assert (IZR (one p) = IZR (2 ^ mass_bits) * IZR (2 ^ (Zpos p - mass_bits))) as ->.
  { rewrite <- mult_IZR, <- Z.pow_add_r by lia. unfold one. f_equal. f_equal. lia. }
  pose proof (down_div_le m (2 ^ (Zpos p - mass_bits)) ltac:(apply Z.pow_pos_nonneg; lia)) as D. unfold down_div in D.
  set (u := IZR (m / 2 ^ (Zpos p - mass_bits))) in *. set (M := IZR (2 ^ mass_bits)) in *. set (K := IZR (2 ^ (Zpos p - mass_bits))) in *.
  apply Rmult_le_reg_r with (M * K); [now apply Rmult_lt_0_compat|].
  replace (/ M * u * (M * K)) with (u * K) by (field; lra). replace (IZR m / (M * K) * (M * K)) with (IZR m) by (field; lra). lra.
Qed.
Lemma units_below_nonneg m : (0 <= units_below m)%Z.
Proof. apply Z.shiftr_nonneg. lia. Qed.

Lemma real_of_nonneg m : (0 <= m)%Z -> 0 <= real_of p m.
Proof. intro H. apply Rmult_le_pos; [now apply IZR_le | left; apply Rinv_0_lt_compat, one_posR]. Qed.
Lemma real_of_plus m n : real_of p (m + n) = real_of p m + real_of p n.
Proof. unfold real_of, Rdiv. rewrite plus_IZR. ring. Qed.

Lemma joined_placed l : forall i x, Forall (fun m => (0 <= fst m /\ 0 <= snd m)%Z) l ->
  unit_of mass_bits * spread step (map units_below (joined l)) i hinge (c * x)
  + match l with (_, b) :: _ => real_of p b * worth (i - 1) x | [] => 0 end <= placed l i x.
Proof.
  induction l as [|[m b] l IH]; intros i x H; [simpl; lra|]. inversion H as [|? ? [H1 H2] Hl]; subst. simpl in H1, H2.
  cbn [joined map spread placed]. specialize (IH (i + 1)%Z x Hl). replace (i + 1 - 1)%Z with i in IH by lia.
  assert (hinge (c * x / node step i) = worth i x) as ->.
  { unfold worth, at_node. f_equal. pose proof (node_pos step i). field. lra. }
  assert (0 <= worth i x) as W by apply hinge_nonneg.
  set (b' := match l with (_, b') :: _ => b' | [] => 0%Z end).
  assert (0 <= b')%Z as Hb' by (unfold b'; destruct l as [|[m' b'']]; [lia | now inversion Hl]).
  assert (match l with (_, b0) :: _ => real_of p b0 * worth i x | [] => 0 end = real_of p b' * worth i x) as E.
  { unfold b'. destruct l as [|[m' b'']]; [rewrite real_of_0; ring | reflexivity]. }
  rewrite E in IH. pose proof (units_below_le (m + b') ltac:(lia)) as U. rewrite real_of_plus in U.
  apply (Rmult_le_compat_r _ _ _ W) in U. lra.
Qed.

(* The whole of it: outcomes with q = 0 are at infinity. *)
Definition never (d : cell) : bool := match snd d with Some (_, b) => (b <=? 0)%Z | None => false end.
Definition masses_below (first : Z) (xs : list ends) (outcomes : list cell) : grid :=
  let (infinite, others) := List.partition never outcomes in
  match xs with
  | [] => Grid first [] 0
  | x :: more =>
      let cs := cells_between (snd (up_to x no_cell (CellSort.sort others))) more in
      Grid first (map units_below (joined (place no_cell None xs cs (shares cs xs))))
        (units_below (lower_end (fst (fold_left add_cells infinite no_cell))))
  end.

Lemma never_zero f d : good f -> encloses f d -> never d = true -> mean Q f <= 0.
Proof.
  intros _ [_ E] H. unfold never in H. destruct (snd d) as [[a b]|]; [|discriminate]. apply Z.leb_le, IZR_le in H. simpl in E.
  pose proof (one_posR p). apply Rmult_le_reg_r with (IZR (one p)); lra.
Qed.

Lemma partition_matches l : forall fs, matches fs l -> exists gs hs, matches gs (fst (List.partition never l)) /\ matches hs (snd (List.partition never l))
  /\ Forall (fun g => mean Q g <= 0) gs
  /\ forall o, Profile.sum (fun f => f o) gs + Profile.sum (fun f => f o) hs = Profile.sum (fun f => f o) fs.
Proof.
  induction l as [|d l IH]; intros fs [F E]; inversion E as [|f ? fs' ? Ef Efs]; subst.
  - exists [], []. simpl. lists. intro; ring.
  - inversion F as [|? ? Gf Gfs]; subst. destruct (IH fs' (conj Gfs Efs)) as [gs [hs [[G1 G2] [[H1 H2] [Z S]]]]]. simpl.
    destruct (List.partition never l) as [a b]. simpl in *. destruct (never d) eqn:N; simpl.
    + exists (f :: gs), hs. lists; auto; [eapply never_zero; eauto|]. intro o. simpl. rewrite <- S. ring.
    + exists gs, (f :: hs). lists; auto. intro o. simpl. rewrite <- S. ring.
Qed.

Lemma zero_sum l : forall fs g d, good g -> encloses g d -> matches fs l -> mean Q g <= 0 -> Forall (fun f => mean Q f <= 0) fs ->
  exists h, good h /\ encloses h (fold_left add_cells l d) /\ mean Q h <= 0 /\ forall o, h o = g o + Profile.sum (fun f => f o) fs.
Proof.
  induction l as [|e l IH]; intros fs g d Hg Eg [F E] Zg Zf; inversion E as [|f ? fs' ? Ef Efs]; subst; simpl.
  - exists g. each; try apply Hg; try apply Eg; auto. intro o. ring.
  - inversion F as [|? ? Gf Gfs]; subst. inversion Zf as [|? ? Z1 Z2]; subst.
    assert (mean Q (fun o => g o + f o) <= 0) as Z by (rewrite mean_plus; [lra | apply Hg | apply Gf]).
    destruct (IH fs' (fun o => g o + f o) _ (good_sum _ _ Hg Gf) (encloses_sum _ _ _ _ Hg Gf Eg Ef) (conj Gfs Efs) Z Z2) as [h [H1 [H2 [H3 H4]]]].
    exists h. each; try apply H1; try apply H2; auto. intro o. rewrite H4. ring.
Qed.

Theorem masses_below_sound first xs outcomes : on_nodes first xs -> enclosed_parts p P Q outcomes ->
  non_negative (masses_below first xs outcomes)
  /\ exists A, proper A /\ attained A P Q
     /\ forall x, 0 <= x -> curve (grid_profile step mass_bits (masses_below first xs outcomes)) (c * x) <= curve A x.
Proof.
  intros Hx [fs [Hm HS]]. unfold masses_below.
  destruct (partition_matches outcomes fs Hm) as [gs [hs [Mg [Mh [Zg S]]]]].
  destruct (List.partition never outcomes) as [infinite others]. simpl in Mg, Mh.
  assert (forall o, 0 <= Profile.sum (fun f => f o) gs) as Sg.
  { intro o. apply sum_nonneg. intros f Hf. destruct Mg as [Mg _]. rewrite Forall_forall in Mg. now apply (Mg f Hf). }
  destruct xs as [|x more].
  { split; [split; simpl; [lia | constructor]|]. exists (Profile 0 []). split; [split; simpl; [lra | constructor]|]. split.
    - exists (fun _ => 0), []. split; [split; [constructor; [apply good_zero | constructor] | intro; simpl; lra]|].
      rewrite !mean_const. each; try (simpl; lra). apply Forall2_nil.
    - intros x Hx0. unfold curve, grid_profile. rewrite act_profile. simpl. unfold act. simpl. lra. }
  pose proof (CellSort.Permuted_sort others) as Hp.
  assert (exists hs', matches hs' (CellSort.sort others) /\ forall o, Profile.sum (fun f => f o) hs' = Profile.sum (fun f => f o) hs) as [hs' [Ms Ss]].
  { destruct Mh as [M1 M2]. destruct (Forall2_permutation encloses _ _ Hp hs M2) as [k [K1 K2]]. exists k.
    split; [split; [eapply Permutation_Forall; eassumption | exact K2]|]. intro o. symmetry. now apply sum_permutation. }
  destruct (up_to x no_cell (CellSort.sort others)) as [d rest] eqn:EU.
  destruct (up_to_sound x _ no_cell hs' (fun _ => 0) d rest EU good_zero encloses_zero Ms) as [h0 [ks [[_ [_ H0]] [_ [Mk Sk]]]]].
  destruct (cells_between_sound more rest ks Mk) as [ls [Ml Sl]]. cbn [snd]. set (cs := cells_between rest more) in *.
  destruct (place_sound (x :: more) first no_cell None cs (shares cs (x :: more)) (fun _ => 0) ls Hx Logic.I good_zero encloses_zero Ml)
    as [ps [atoms [P1 [P2 [P3 [P4 [P5 P6]]]]]]].
  destruct (zero_sum infinite gs (fun _ => 0) no_cell good_zero encloses_zero Mg ltac:(rewrite mean_const; lra) Zg) as [far [F1 [F2 [F3 F4]]]].
  set (placed_masses := place no_cell None (x :: more) cs (shares cs (x :: more))) in *.
  set (low := lower_end (fst (fold_left add_cells infinite no_cell))).
  pose proof (mean_nonneg P far (proj1 F1) (proj2 (proj2 F1))) as Pf.
  assert (unit_of mass_bits * IZR (units_below low) <= mean P far) as HF.
  { destruct F2 as [F2 _]. unfold low. destruct (fst (fold_left add_cells infinite no_cell)) as [[a b]|]; simpl in F2 |- *.
    - destruct (Z.le_gt_cases 0 a) as [L|L].
      + eapply Rle_trans; [now apply units_below_le|]. unfold real_of. pose proof (one_posR p). apply Rmult_le_reg_r with (IZR (one p)); [assumption|].
        replace (IZR a / IZR (one p) * IZR (one p)) with (IZR a) by (field; lra). lra.
      + unfold units_below. rewrite Z.max_l, Z.shiftr_0_l by lia. lra.
    - unfold units_below. rewrite Z.max_l, Z.shiftr_0_l by lia. lra. }
  split.
  - split; [apply units_below_nonneg|]. simpl. apply Forall_map, Forall_forall. intros m _. apply units_below_nonneg.
  - exists (Profile (mean P far) atoms). split; [split; [exact Pf | exact P4]|]. split.
    + exists far, ps. split; [split; [now constructor|]|].
      * intro o. simpl. specialize (P2 o). rewrite Sl in P2. specialize (Sk o). specialize (Ss o). specialize (S o). specialize (HS o).
        specialize (H0 o). specialize (F4 o). lra.
      * simpl. split; [lra|]. split; [exact F3 | exact P3].
    + intros y Hy. unfold curve, grid_profile. rewrite act_profile. unfold act. cbn [Profile.infinite Profile.atoms units Grid.far Grid.first].
      rewrite hinge_0, !Rmult_1_r. rewrite Rmult_plus_distr_l.
      pose proof (joined_placed placed_masses first y P5) as J.
      assert (0 <= match placed_masses with (_, b) :: _ => real_of p b * worth (first - 1) y | [] => 0 end) as B.
      { destruct placed_masses as [|[m b] ?]; [lra|]. inversion P5 as [|? ? [_ B] _]; subst. simpl in B.
        apply Rmult_le_pos; [now apply real_of_nonneg | apply hinge_nonneg]. }
      specialize (P6 y). simpl in *. lra.
Qed.
End Pair.
End Cells.

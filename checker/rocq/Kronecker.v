(* A convolution by one product of long integers: the masses are digits in base 2^width, with a width so large that no sum
   of products carries. *)
From Coq Require Import ZArith Lia List.
Import ListNotations.
From Bignums Require Import BigZ.
From DP Require Import Grid.
Open Scope Z_scope.

Definition pack (width : Z) (l : list Z) : Z := fold_right (fun m rest => m + 2 ^ width * rest) 0 l.

Lemma pack_add width a : forall b, pack width (add a b) = pack width a + pack width b.
Proof. induction a as [|m s IH]; intros [|n t]; simpl; try lia. rewrite IH. lia. Qed.
Lemma pack_scale width c a : pack width (map (Z.mul c) a) = c * pack width a.
Proof. induction a as [|m s IH]; simpl; [lia|]. rewrite IH. lia. Qed.
Lemma pack_convolution width a b : pack width (convolution a b) = pack width a * pack width b.
Proof. induction a as [|m t IH]; simpl; [reflexivity|]. rewrite pack_add, pack_scale. simpl. rewrite IH. lia. Qed.

(* The digits of a number. *)
Fixpoint digits (width : Z) (n : nat) (v : Z) : list Z :=
  match n with O => [] | S k => v mod 2 ^ width :: digits width k (v / 2 ^ width) end.

Lemma digits_pack width l : 0 <= width -> Forall (fun m => 0 <= m < 2 ^ width) l -> digits width (length l) (pack width l) = l.
Proof.
  intros Hw H. induction H as [|m l Hm Hl IH]; simpl; [reflexivity|].
  rewrite (Z.mul_comm (2 ^ width)), Z_mod_plus_full, Z.mod_small, Z.div_add, Z.div_small by lia. now rewrite Z.add_0_l, IH.
Qed.

Lemma total_cons m l : total (m :: l) = m + total l.
Proof. reflexivity. Qed.
Lemma total_add a : forall b, total (add a b) = total a + total b.
Proof. induction a as [|m s IH]; intros [|n t]; cbn [add]; rewrite ?total_cons; try (simpl; lia). rewrite IH. lia. Qed.
Lemma total_scale c l : total (map (Z.mul c) l) = c * total l.
Proof. induction l as [|m l IH]; cbn [map]; rewrite ?total_cons; [simpl; lia|]. rewrite IH. lia. Qed.
Lemma total_convolution a b : total (convolution a b) = total a * total b.
Proof.
  induction a as [|m t IH]; cbn [convolution]; [reflexivity|]. rewrite total_add, total_scale, !total_cons, IH. lia.
Qed.
Lemma entry_le_total l : Forall (fun m => 0 <= m) l -> Forall (fun m => 0 <= m <= total l) l.
Proof.
  intro H. induction H as [|m l Hm Hl IH]; constructor.
  - simpl. pose proof (total_nonneg l Hl). unfold total in *. lia.
  - eapply Forall_impl; [|exact IH]. intros k Hk. simpl in *. unfold total in *. lia.
Qed.

Lemma add_length a : forall b, length (add a b) = max (length a) (length b).
Proof. induction a as [|m s IH]; intros [|n t]; simpl; auto. Qed.
Lemma convolution_length a b : a <> [] -> b <> [] -> length (convolution a b) = (length a + length b - 1)%nat.
Proof.
  intros Ha Hb. assert (1 <= length b)%nat by (destruct b; simpl; [congruence | lia]). clear Hb.
  induction a as [|m t IH]; [congruence|]. simpl. rewrite add_length, map_length. simpl.
  destruct t as [|k t]; [simpl; lia|]. rewrite IH by discriminate. simpl. lia.
Qed.

(* Everything but the product itself: for Z and for BigZ. *)
Definition non_negative_list (l : list Z) : bool := forallb (fun m => 0 <=? m) l.
Definition width_for (a b : list Z) : Z := Z.log2 (total a * total b) + 1.

Definition by_product (product : Z -> nat -> list Z -> list Z -> list Z) (a b : list Z) : list Z :=
  match a, b with
  | [], _ | _, [] => convolution a b
  | _, _ => if (non_negative_list a && non_negative_list b)%bool
            then product (width_for a b) (length a + length b - 1)%nat a b else convolution a b
  end.

Theorem by_product_correct product :
  (forall w n a b, product w n a b = digits w n (pack w a * pack w b)) ->
  forall a b, by_product product a b = convolution a b.
Proof.
  intros H a b. unfold by_product. destruct a as [|m s] eqn:Ea; [reflexivity|]. destruct b as [|n t] eqn:Eb; [reflexivity|].
  rewrite <- Ea, <- Eb. destruct (non_negative_list a && non_negative_list b)%bool eqn:E; [|reflexivity].
  apply andb_prop in E. destruct E as [E1 E2]. unfold non_negative_list in E1, E2. rewrite forallb_forall in E1, E2.
  assert (Forall (fun m => 0 <= m) a) as Na by (apply Forall_forall; intros k Hk; apply Z.leb_le; auto).
  assert (Forall (fun m => 0 <= m) b) as Nb by (apply Forall_forall; intros k Hk; apply Z.leb_le; auto).
  rewrite H, <- pack_convolution, <- convolution_length by (subst; discriminate).
  assert (0 <= width_for a b) by (unfold width_for; pose proof (Z.log2_nonneg (total a * total b)); lia).
  apply digits_pack; [assumption|].
  eapply Forall_impl; [|apply entry_le_total; now apply convolution_non_negative].
  intros k [Hk1 Hk2]. split; [assumption|]. eapply Z.le_lt_trans; [exact Hk2|]. rewrite total_convolution. unfold width_for.
  destruct (Z.eq_dec (total a * total b) 0) as [->|].
  - apply Z.pow_pos_nonneg; simpl; lia.
  - apply Z.log2_spec. pose proof (total_nonneg a Na). pose proof (total_nonneg b Nb). nia.
Qed.

(* Long numbers are packed and split by halves, which costs less than digit by digit. *)
Lemma pack_app w a b : 0 <= w -> pack w (a ++ b) = pack w a + 2 ^ (w * Z.of_nat (length a)) * pack w b.
Proof.
  intro Hw. induction a as [|m a IH].
  - simpl. rewrite Z.mul_0_r. simpl. destruct (pack w b); reflexivity.
  - cbn [app pack fold_right length]. fold (pack w (a ++ b)) (pack w a). rewrite IH, Nat2Z.inj_succ, Z.mul_succ_r, Z.pow_add_r by lia. ring.
Qed.

Lemma digits_app w m : 0 <= w -> forall k v,
  digits w (m + k) v = digits w m (v mod 2 ^ (w * Z.of_nat m)) ++ digits w k (v / 2 ^ (w * Z.of_nat m)).
Proof.
  intro Hw. induction m as [|m IH]; intros k v.
  - cbn [digits app Nat.add]. replace (w * Z.of_nat 0) with 0 by lia. now rewrite Z.div_1_r.
  - assert (0 < 2 ^ w) by (apply Z.pow_pos_nonneg; lia). assert (0 < 2 ^ (w * Z.of_nat m)) by (apply Z.pow_pos_nonneg; lia).
    assert (2 ^ (w * Z.of_nat (S m)) = 2 ^ w * 2 ^ (w * Z.of_nat m)) as E by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    cbn [Nat.add digits app]. rewrite IH, E. f_equal; [|f_equal].
    + rewrite Z.rem_mul_r by lia. rewrite (Z.mul_comm (2 ^ w)), Z_mod_plus_full. now rewrite Z.mod_mod by lia.
    + f_equal. rewrite Z.rem_mul_r by lia. rewrite (Z.mul_comm (2 ^ w)), Z.div_add by lia.
      now rewrite (Z.div_small (v mod 2 ^ w)) by (apply Z.mod_pos_bound; lia).
    + now rewrite Z.div_div by lia.
Qed.

Fixpoint pack_halves (depth : nat) (w : Z) (n : nat) (l : list Z) : Z :=
  match depth with
  | O => pack w l
  | S d => if (n <=? 8)%nat then pack w l else
      let m := (n / 2)%nat in
      pack_halves d w m (firstn m l) + Z.shiftl (pack_halves d w (n - m) (skipn m l)) (w * Z.of_nat m)
  end.
Fixpoint digits_halves (depth : nat) (w : Z) (n : nat) (v : Z) : list Z :=
  match depth with
  | O => digits w n v
  | S d => if (n <=? 8)%nat then digits w n v else
      let m := (n / 2)%nat in let high := Z.shiftr v (w * Z.of_nat m) in
      digits_halves d w m (v - Z.shiftl high (w * Z.of_nat m)) ++ digits_halves d w (n - m) high
  end.

Lemma pack_halves_correct w d : 0 <= w -> forall l, pack_halves d w (length l) l = pack w l.
Proof.
  intro Hw. induction d as [|d IH]; intro l; cbn [pack_halves]; [reflexivity|]. destruct (Nat.leb_spec (length l) 8); [reflexivity|].
  set (m := (length l / 2)%nat). assert (m <= length l)%nat by (apply Nat.div_le_upper_bound; lia).
  pose proof (firstn_length_le l H0) as E1. pose proof (skipn_length m l) as E2.
  rewrite <- (firstn_skipn m l) at 4. rewrite pack_app, E1 by assumption.
  rewrite <- E1 at 1. rewrite IH, <- E2, IH, Z.shiftl_mul_pow2 by lia. ring.
Qed.
Lemma digits_halves_correct w d : 0 <= w -> forall n v, digits_halves d w n v = digits w n v.
Proof.
  intro Hw. induction d as [|d IH]; intros n v; cbn [digits_halves]; [reflexivity|]. destruct (Nat.leb_spec n 8); [reflexivity|].
  set (m := (n / 2)%nat). assert (m <= n)%nat by (apply Nat.div_le_upper_bound; lia).
  transitivity (digits w (m + (n - m)) v); [|f_equal; lia]. assert (0 < 2 ^ (w * Z.of_nat m)) by (apply Z.pow_pos_nonneg; lia).
  rewrite digits_app, !IH, Z.shiftr_div_pow2, Z.shiftl_mul_pow2 by lia. do 2 f_equal.
  rewrite Z.mod_eq by lia. ring.
Qed.

(* With Z, for the program. *)
Definition product_Z (w : Z) (n : nat) (a b : list Z) : list Z :=
  if 0 <=? w then digits_halves 40 w n (pack_halves 40 w (length a) a * pack_halves 40 w (length b) b)
  else digits w n (pack w a * pack w b).
Definition convolution_Z : list Z -> list Z -> list Z := by_product product_Z.
Theorem convolution_Z_correct a b : convolution_Z a b = convolution a b.
Proof.
  apply by_product_correct. intros w n c d. unfold product_Z. destruct (Z.leb_spec 0 w); [|reflexivity].
  now rewrite digits_halves_correct, !pack_halves_correct by assumption.
Qed.

(* With BigZ, for the kernel. *)
Definition pack_big (w : bigZ) (l : list Z) : bigZ := fold_right (fun m rest => BigZ.add (BigZ.of_Z m) (BigZ.shiftl rest w)) BigZ.zero l.
Fixpoint digits_big (w mask : bigZ) (n : nat) (v : bigZ) : list Z :=
  match n with O => [] | S k => BigZ.to_Z (BigZ.land v mask) :: digits_big w mask k (BigZ.shiftr v w) end.
Definition product_big (w : Z) (n : nat) (a b : list Z) : list Z :=
  if 0 <=? w then
    let width := BigZ.of_Z w in
    digits_big width (BigZ.of_Z (Z.ones w)) n (BigZ.mul (pack_big width a) (pack_big width b))
  else digits w n (pack w a * pack w b).

Lemma pack_big_correct w l : 0 <= w -> BigZ.to_Z (pack_big (BigZ.of_Z w) l) = pack w l.
Proof.
  intro H. induction l as [|m l IH]; [reflexivity|]. simpl.
  rewrite BigZ.spec_add, BigZ.spec_of_Z, BigZ.spec_shiftl, BigZ.spec_of_Z, IH, Z.shiftl_mul_pow2 by assumption. lia.
Qed.
Lemma digits_big_correct w n : 0 <= w -> forall v,
  digits_big (BigZ.of_Z w) (BigZ.of_Z (Z.ones w)) n v = digits w n (BigZ.to_Z v).
Proof.
  intro H. induction n as [|n IH]; intro v; [reflexivity|]. simpl. rewrite IH. f_equal.
  - now rewrite BigZ.spec_land, BigZ.spec_of_Z, Z.land_ones.
  - f_equal. now rewrite BigZ.spec_shiftr, BigZ.spec_of_Z, Z.shiftr_div_pow2.
Qed.

Definition convolution_big : list Z -> list Z -> list Z := by_product product_big.
Theorem convolution_big_correct a b : convolution_big a b = convolution a b.
Proof.
  apply by_product_correct. intros w n c d. unfold product_big. destruct (Z.leb_spec 0 w); [|reflexivity].
  now rewrite digits_big_correct, BigZ.spec_mul, !pack_big_correct.
Qed.

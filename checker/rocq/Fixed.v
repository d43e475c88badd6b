(* Real numbers as the checker computes them: between two whole multiples of 2^-p.

   Sums are exact; products and quotients round the lower end down and the upper end up. What cannot be bounded is None. *)
From Coq Require Import Reals Lra Lia ZArith Bool.
Open Scope R_scope.

Definition ends := option (Z * Z).

Section Precision.
Variable p : positive.
Definition one : Z := (2 ^ Zpos p)%Z.

Definition holds (v : ends) (x : R) : Prop :=
  match v with None => True | Some (a, b) => IZR a <= x * IZR one <= IZR b end.

Lemma one_pos : (0 < one)%Z.
Proof. now apply Z.pow_pos_nonneg. Qed.
Lemma one_posR : 0 < IZR one.
Proof. apply IZR_lt, one_pos. Qed.

(* division, rounded down and up *)
Definition down_div (a d : Z) : Z := (a / d)%Z.
Definition up_div (a d : Z) : Z := (- ((- a) / d))%Z.
Definition down (a : Z) : Z := Z.shiftr a (Zpos p).
Definition upper (a : Z) : Z := (- Z.shiftr (- a) (Zpos p))%Z.

Lemma down_div_le a d : (0 < d)%Z -> IZR (down_div a d) * IZR d <= IZR a.
Proof. intro H. rewrite <- mult_IZR. apply IZR_le. unfold down_div. rewrite Z.mul_comm. now apply Z.mul_div_le. Qed.
Lemma up_div_ge a d : (0 < d)%Z -> IZR a <= IZR (up_div a d) * IZR d.
Proof. intro H. rewrite <- mult_IZR. apply IZR_le. unfold up_div. pose proof (Z.mul_div_le (- a) d H). lia. Qed.
Lemma down_le a : IZR (down a) * IZR one <= IZR a.
Proof. unfold down. rewrite Z.shiftr_div_pow2 by lia. apply down_div_le, one_pos. Qed.
Lemma upper_ge a : IZR a <= IZR (upper a) * IZR one.
Proof. unfold upper. rewrite Z.shiftr_div_pow2 by lia. apply up_div_ge, one_pos. Qed.

Definition whole (n : Z) : ends := Some (n * one, n * one)%Z.
Lemma whole_holds n : holds (whole n) (IZR n).
Proof. simpl. rewrite mult_IZR. lra. Qed.

Definition ratio (n : Z) (d : positive) : ends :=
  Some (down_div (n * one) (Zpos d), up_div (n * one) (Zpos d)).
Lemma ratio_holds n d : holds (ratio n d) (IZR n / IZR (Zpos d)).
Proof.
  simpl. assert (0 < IZR (Zpos d)) as Hd by now apply IZR_lt.
  pose proof (down_div_le (n * one) (Zpos d) eq_refl) as A. pose proof (up_div_ge (n * one) (Zpos d) eq_refl) as B.
  rewrite mult_IZR in A, B.
  assert (IZR n / IZR (Zpos d) * IZR one * IZR (Zpos d) = IZR n * IZR one) by (field; lra).
  split; apply Rmult_le_reg_r with (IZR (Zpos d)); lra.
Qed.

Definition plus (u v : ends) : ends :=
  match u, v with Some (a, b), Some (c, d) => Some (a + c, b + d)%Z | _, _ => None end.
Lemma plus_holds u v x y : holds u x -> holds v y -> holds (plus u v) (x + y).
Proof. destruct u as [[a b]|], v as [[c d]|]; simpl; auto. rewrite !plus_IZR. lra. Qed.

Definition minus (u v : ends) : ends :=
  match u, v with Some (a, b), Some (c, d) => Some (a - d, b - c)%Z | _, _ => None end.
Lemma minus_holds u v x y : holds u x -> holds v y -> holds (minus u v) (x - y).
Proof. destruct u as [[a b]|], v as [[c d]|]; simpl; auto. rewrite !minus_IZR. lra. Qed.

(* Numbers >= 0 have their least and largest product at the ends; else the four products of ends are compared. *)
Definition times (u v : ends) : ends :=
  match u, v with
  | Some (a, b), Some (c, d) =>
      if (0 <=? a)%Z && (0 <=? c)%Z then Some (down (a * c), upper (b * d))
      else Some (down (Z.min (Z.min (a * c) (a * d)) (Z.min (b * c) (b * d))),
                 upper (Z.max (Z.max (a * c) (a * d)) (Z.max (b * c) (b * d))))
  | _, _ => None
  end.

Lemma product_ends a b c d x y : a <= x <= b -> c <= y <= d ->
  Rmin (Rmin (a * c) (a * d)) (Rmin (b * c) (b * d)) <= x * y
  <= Rmax (Rmax (a * c) (a * d)) (Rmax (b * c) (b * d)).
Proof.
  intros Hx Hy.
  assert (Rmin (a * y) (b * y) <= x * y <= Rmax (a * y) (b * y)) as [H1 H2].
  { unfold Rmin, Rmax. destruct (Rle_dec (a * y) (b * y)); destruct (Rle_dec 0 y); nra. }
  assert (forall e, Rmin (e * c) (e * d) <= e * y <= Rmax (e * c) (e * d)) as H.
  { intro e. unfold Rmin, Rmax. destruct (Rle_dec (e * c) (e * d)); destruct (Rle_dec 0 e); nra. }
  destruct (H a) as [A1 A2]. destruct (H b) as [B1 B2]. split.
  - eapply Rle_trans; [|exact H1]. apply Rmin_glb; eapply Rle_trans; [apply Rmin_l | exact A1 | apply Rmin_r | exact B1].
  - eapply Rle_trans; [exact H2|]. apply Rmax_lub; eapply Rle_trans; [exact A2 | apply Rmax_l | exact B2 | apply Rmax_r].
Qed.

Lemma min_IZR a b : IZR (Z.min a b) = Rmin (IZR a) (IZR b).
Proof.
  destruct (Z.le_ge_cases a b); [rewrite Z.min_l, Rmin_left | rewrite Z.min_r, Rmin_right];
    auto using IZR_le, IZR_ge, Rge_le, Z.le_ge; apply IZR_le; lia.
Qed.
Lemma max_IZR a b : IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
  destruct (Z.le_ge_cases a b); [rewrite Z.max_r, Rmax_right | rewrite Z.max_l, Rmax_left];
    auto using IZR_le; apply IZR_le; lia.
Qed.

Lemma times_holds u v x y : holds u x -> holds v y -> holds (times u v) (x * y).
Proof.
  destruct u as [[a b]|], v as [[c d]|]; simpl; auto. intros Hx Hy.
  destruct (Z.leb_spec 0 a) as [Ha|Ha], (Z.leb_spec 0 c) as [Hc|Hc]; cbn [andb];
    [apply IZR_le in Ha, Hc; pose proof (down_le (a * c)) as A; pose proof (upper_ge (b * d)) as B; pose proof one_posR;
     rewrite mult_IZR in A, B; split; apply Rmult_le_reg_r with (IZR one); nra | | |];
    pose proof (product_ends _ _ _ _ _ _ Hx Hy) as [L U];
    rewrite <- !mult_IZR, <- !min_IZR in L; rewrite <- !mult_IZR, <- !max_IZR in U;
    match type of L with IZR ?l <= _ => pose proof (down_le l) end; match type of U with _ <= IZR ?m => pose proof (upper_ge m) end;
    pose proof one_posR; split; apply Rmult_le_reg_r with (IZR one); try assumption; nra.
Qed.

(* x / y for x >= 0 and y > 0 *)
Definition over (u v : ends) : ends :=
  match u, v with
  | Some (a, b), Some (c, d) =>
      if (0 <=? a)%Z && (0 <? c)%Z then Some (down_div (a * one) d, up_div (b * one) c) else None
  | _, _ => None
  end.
Lemma over_holds u v x y : holds u x -> holds v y -> holds (over u v) (x / y).
Proof.
  destruct u as [[a b]|], v as [[c d]|]; simpl; auto. intros Hx Hy.
  destruct (Z.leb_spec 0 a), (Z.ltb_spec 0 c); simpl; auto. pose proof one_posR as Ho.
  assert (0 <= IZR a) by now apply IZR_le. assert (0 < IZR c) by now apply IZR_lt.
  assert (0 < IZR d) as Hd by lra. assert (0 < d)%Z as Hd' by now apply lt_IZR.
  assert (0 < y) by (apply Rmult_lt_reg_r with (IZR one); lra).
  assert (0 <= x) by (apply Rmult_le_reg_r with (IZR one); lra).
  pose proof (down_div_le (a * one) d Hd') as A. pose proof (up_div_ge (b * one) c H0) as B.
  rewrite mult_IZR in A, B. assert (exists z, z = x / y) as [z Ez] by (now exists (x / y)). rewrite <- Ez. assert (x = z * y) by (rewrite Ez; field; lra).
  assert (0 <= z) by (rewrite Ez; apply Rmult_le_pos; [assumption | left; now apply Rinv_0_lt_compat]).
  split.
  - apply Rmult_le_reg_r with (IZR d); [assumption|]. eapply Rle_trans; [exact A|]. subst x. nra.
  - apply Rmult_le_reg_r with (IZR c); [assumption|]. eapply Rle_trans; [|exact B]. subst x. nra.
Qed.

(* The positive part. *)
Definition positive_part (u : ends) : ends :=
  match u with Some (a, b) => Some (Z.max 0 a, Z.max 0 b) | None => None end.
Lemma positive_part_holds u x : holds u x -> holds (positive_part u) (Rmax 0 x).
Proof.
  destruct u as [[a b]|]; simpl; auto. intros [H1 H2]. rewrite !max_IZR. pose proof one_posR.
  assert (Rmax 0 x * IZR one = Rmax 0 (x * IZR one)) as ->.
  { unfold Rmax. destruct (Rle_dec 0 x), (Rle_dec 0 (x * IZR one)); nra. }
  split; apply Rle_max_compat_l; assumption.
Qed.

End Precision.


(* ln x as the checker computes it: a guess y, which nothing depends on, and 1 - e^y/x <= ln x - y <= x/e^y - 1. *)
From Coq Require Import Reals Lra Lia ZArith Bool.
From DP Require Import Fixed Exponential Above.
Open Scope R_scope.

(* From precision p to r. *)
Definition rescale (p r : positive) (a : Z) : Z := Z.shiftl a (Zpos r - Zpos p).

(* Halley's step for e^y = x, where y and x are multiples of 2^-r: an error e becomes e^3/12. *)
Definition halley (r : positive) (x y : Z) : Z :=
  match exponential r (Some (y, y)) with
  | Some (e, _) => (y + Z.shiftl (x - e) (Zpos r + 1) / (x + e))%Z
  | None => y
  end.

(* From the position of the first digit; ln 2 is about 45426/2^16. A step with few digits and one with 40 have 27 right ones. *)
Definition first_guess (p : positive) (x : Z) : Z :=
  let start := (45426 * (Z.log2 x - Zpos p) + 22713)%Z in
  halley 40 (rescale p 40 x) (rescale 16 40 (halley 16 (rescale p 16 x) start)).

(* With r digits: a step from a third of them. *)
Fixpoint guess_large (steps : nat) (p r : positive) (x : Z) : Z :=
  match steps with
  | S n => if (32 <? r)%positive then
             let third := Z.to_pos (Zpos r / 3 + 8) in
             halley r (rescale p r x) (rescale third r (guess_large n p third x))
           else rescale 40 r (first_guess p x)
  | O => rescale 40 r (first_guess p x)
  end.

Definition guess (p : positive) (x : Z) : Z :=
  if (one p <=? x)%Z then guess_large 32 p p x else (- guess_large 32 p p (one p * one p / x))%Z.

Section Logarithm.
Variable p : positive.

Definition logarithm (u : ends) : ends :=
  match u with
  | Some (a, b) =>
      if (0 <? a)%Z then
        let y := exactly (guess p a) in
        let e := exponential p y in
        match minus (plus y (whole p 1)) (over p e u), minus (plus y (over p u e)) (whole p 1) with
        | Some (c, _), Some (_, d) => Some (c, d)
        | _, _ => None
        end
      else None
  | None => None
  end.

Theorem logarithm_holds u x : holds p u x -> holds p (logarithm u) (ln x).
Proof.
  intro H. unfold logarithm. destruct u as [[a b]|] eqn:Eu; [|exact Logic.I]. rewrite <- Eu in *.
  destruct (Z.ltb_spec 0 a) as [Ha|]; [|exact Logic.I]. pose proof (one_posR p) as Ho.
  assert (0 < x) as Hx.
  { rewrite Eu in H. simpl in H. apply IZR_lt in Ha. apply Rmult_lt_reg_r with (IZR (one p)); lra. }
  set (z := guess p a). set (y := real_of p z). pose proof (exactly_holds p z) as Hy. fold y in Hy.
  pose proof (exponential_holds p _ _ Hy) as He. pose proof (exp_pos y) as Hey.
  pose proof (minus_holds p _ _ _ _ (plus_holds p _ _ _ _ Hy (whole_holds p 1)) (over_holds p _ _ _ _ He H)) as L.
  pose proof (minus_holds p _ _ _ _ (plus_holds p _ _ _ _ Hy (over_holds p _ _ _ _ H He)) (whole_holds p 1)) as U.
  destruct (minus (plus (exactly z) (whole p 1)) _) as [[c c']|]; [|exact Logic.I].
  destruct (minus (plus (exactly z) (over p u _)) _) as [[d' d]|]; [|exact Logic.I].
  cbn [holds] in *.
  assert (y + 1 - exp y / x <= ln x) as L1.
  { pose proof (exp_ineq1_le (y - ln x)) as T. unfold Rminus in T. rewrite exp_plus, exp_Ropp, exp_ln in T by assumption. unfold Rdiv. lra. }
  assert (ln x <= y + x / exp y - 1) as U1.
  { pose proof (exp_ineq1_le (ln x - y)) as T. unfold Rminus in T. rewrite exp_plus, exp_Ropp, exp_ln in T by assumption. unfold Rdiv. lra. }
  split; [apply Rle_trans with ((y + 1 - exp y / x) * IZR (one p)) | apply Rle_trans with ((y + x / exp y - 1) * IZR (one p))];
    try lra; apply Rmult_le_compat_r; lra.
Qed.
End Logarithm.

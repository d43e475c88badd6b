(* What a statement of the format dp-statement/1 means. *)
From Coq Require Import Reals Lra Lia ZArith QArith Qreals List.
Import ListNotations.
From DP Require Import Law Profile Compose Finite Sampling Tops Noise NoiseTop Basic Renyi Normal Laplace.
Open Scope R_scope.

(* A fraction > 0. *)
Record fraction := Fraction { numerator : positive; denominator : positive }.
Definition real_fraction (f : fraction) : R := IZR (Zpos (numerator f)) / IZR (Zpos (denominator f)).

(* Section 3 of the specification. *)
Inductive mechanism :=
| FiniteLaw (outcomes : list (Q * Q))
| RandomizedResponse (epsilon : Q)
| DiscreteLaplace (scale : fraction) (sensitivity : positive)
| DiscreteGaussian (sigma2 : fraction) (sensitivity : positive)
| Approximate (epsilon delta : Q)
| ZeroConcentrated (rho : Q)
| Gaussian (sigma sensitivity : fraction)
| Laplace (scale sensitivity : fraction).

Definition real_pairs (l : list (Q * Q)) : list (R * R) := map (fun c => (Q2R (fst c), Q2R (snd c))) l.

(* The pairs of laws, with the user and without, for all neighbours. The sensitivity bounds how far the noisy value moves. *)
Definition class_of (m : mechanism) : class :=
  match m with
  | FiniteLaw outcomes => finite_pair (real_pairs outcomes)
  | RandomizedResponse epsilon => finite_pair (response (Q2R epsilon))
  | DiscreteLaplace scale s =>  (* e^(-|z|/scale) *)
      let (n, d) := scale in moved false (noise_rate d n) (noise_rate_pos d n) (Zpos s)
  | DiscreteGaussian sigma2 s =>  (* e^(-z^2/(2 sigma2)) *)
      let (n, d) := sigma2 in moved true (noise_rate d (2 * n)) (noise_rate_pos d (2 * n)) (Zpos s)
  | Approximate epsilon delta => approximate (Q2R epsilon) (Q2R delta)
  | ZeroConcentrated rho => zcdp (Q2R rho)
  | Gaussian sigma s => moved_gaussian (real_fraction sigma) (real_fraction s)  (* a density in proportion to e^(-t^2/2) *)
  | Laplace scale s => moved_laplace (real_fraction scale) (real_fraction s)  (* to e^-|t| *)
  end.

(* A release: a mechanism, the rate of Poisson sampling, and how often it runs. *)
Record release := Release { runs : mechanism; rate : option fraction; count : positive }.

Definition rate_of (f : fraction) : probability.
Proof.
  refine (Probability (Rmin 1 (real_fraction f)) _). split; [|apply Rmin_l].
  apply Rmin_glb; [lra|]. left. apply Rmult_lt_0_compat; [now apply IZR_lt | now apply Rinv_0_lt_compat, IZR_lt].
Defined.

Definition class_of_release (r : release) : class :=
  match rate r with None => class_of (runs r) | Some q => sampled (rate_of q) (class_of (runs r)) end.

(* All runs of all releases. Neighbours of add-remove and zero-out have a named side, so that all runs have the same order;
   for replace-one and for a pair each run may have its own. *)
Definition run_classes (orient : class -> class) (releases : list release) : list class :=
  flat_map (fun r => repeat (orient (class_of_release r)) (Pos.to_nat (count r))) releases.

(* delta at epsilon is at most this, for every adaptive session and every event of what was seen. *)
Definition delta_at_most (classes : list class) (epsilon bound : R) : Prop :=
  forall s, spends classes s -> forall f, decision s f ->
  mean_first s f - exp epsilon * mean_second s f <= bound.

Definition private_releases (named : bool) (releases : list release) (epsilon bound : R) : Prop :=
  if named
  then delta_at_most (run_classes (fun C => C) releases) epsilon bound
       /\ delta_at_most (run_classes reversed releases) epsilon bound
  else delta_at_most (run_classes either releases) epsilon bound.

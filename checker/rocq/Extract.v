(* The program: the checker with integers of arbitrary length of OCaml's library Zarith. *)
From Coq Require Import ZArith QArith.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
From DP Require Import Statement Bounds Checker.

Extract Constant Z.pow => "Long.pow".
Extract Constant Z.log2 => "Long.log2".

Extraction Blacklist List String Z.
Extraction "program/checker.ml" check_in_program proper_outcomes.

(* The program: the checker with integers of arbitrary length of OCaml's library Zarith. *)
From Coq Require Import ZArith QArith.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
From DP Require Import Statement Bounds Checker Measures Claims Histogram.

Extract Constant Z.pow => "Long.pow".
Extract Constant Z.log2 => "Long.log2".

Extraction Blacklist List String Z.
Extraction "program/checker.ml" program_most program_least program_histogram proper_outcomes.

(* What the theorems assume. *)
From DP Require Import Law Countable Compose Basic Orders Checker.
Print Assumptions positive_parts_dp.
Print Assumptions composition.
Print Assumptions basic_composition.
Print Assumptions old_rule_is_unsound.
Print Assumptions check_in_program_sound.

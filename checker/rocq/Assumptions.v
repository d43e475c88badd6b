(* What the theorems assume. *)
From DP Require Import Law Countable Compose Basic Orders Renyi Moments Lower Claims Normal NormalRenyi NormalSum NormalBelow Measures Rounded Histogram.
Print Assumptions positive_parts_dp.
Print Assumptions composition.
Print Assumptions basic_composition.
Print Assumptions old_rule_is_unsound.
Print Assumptions composition_from_below.
Print Assumptions gaussian_moment.
Print Assumptions pure_zcdp.
Print Assumptions gaussian_below.
Print Assumptions gauss_moment.
Print Assumptions gaussian_sessions.
Print Assumptions gaussian_sessions_attain.
Print Assumptions delta_from_mu.
Print Assumptions rounded_complete.
Print Assumptions readme_histogram.
Print Assumptions program_most_sound.
Print Assumptions program_least_sound.

(* What the theorems depend on: `make proofs` prints it. Only the axioms of the standard library's real numbers. *)

From Novikoff Require Import Space Vectors Perceptron Certificates Run.
Print Assumptions cauchy_schwarz.
Print Assumptions novikoff_rounded.
Print Assumptions freund_schapire.
Print Assumptions normalized.
Print Assumptions collins.
Print Assumptions lazy_average.
Print Assumptions inseparable_sound.
Print Assumptions at_most_sound.
Print Assumptions separable_sound.
Print Assumptions wrong_is_another_prediction.
Print Assumptions run_bound.

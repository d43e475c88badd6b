(* What Coq's extraction to Zarith leaves to be named: powers and logarithms of whole numbers. *)
let pow x y = if Z.sign y < 0 then Z.zero else Z.pow x (Z.to_int y)
let log2 x = if Z.sign x <= 0 then Z.zero else Z.of_int (Z.numbits x - 1)

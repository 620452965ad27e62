(* The rules as programs: [refutes], [dominate], [nonneg_on], [below] and [above] in OCaml, with its integers of any size. *)
Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
Require Import Vectors Linear Dominate Nonneg Compare.
Extract Constant BinInt.Z.ggcd => "(fun a b -> let open Big_int_Z in let g = gcd_big_int a b in if sign_big_int g = 0 then (g, (g, g)) else (g, (div_big_int a g, div_big_int b g)))".
Extraction "build/rules.ml" refutes dominate nonneg_on below above.

(* Reads refutations and checks them with the function that was extracted from the proof; reading is not verified.
   A refutation: the atoms (number, whole, strict, constant, how many coefficients and these), the clauses, the lemmas and the steps,
   each list with its length before it; literals are numbers other than 0. *)
module I = Z (* integers of any size; the rules have a module of that name *)
open Rules

let word () = Scanf.scanf " %s" (fun text -> text)
let number () = int_of_string (word ())
let rational () =
  match String.split_on_char '/' (word ()) with
  | [ p ] -> { qnum = I.of_string p; qden = I.one }
  | [ p; q ] when I.sign (I.of_string q) > 0 -> { qnum = I.of_string p; qden = I.of_string q }
  | _ -> failwith "a rational"
let literal () = match number () with 0 -> failwith "a literal" | n -> (I.of_int (abs n), n > 0)
let listed item = let n = number () in List.init n (fun _ -> item ())

let refutation () =
  let atoms = Hashtbl.create 500 in
  let atom () =
    let n = number () in
    let whole = number () = 1 in
    let strict = number () = 1 in
    let const = rational () in
    let coef = listed rational in
    Hashtbl.replace atoms n { body = { coef; const; strict }; whole } in
  ignore (listed atom);
  let clauses = listed (fun () -> listed literal) in
  let pair () = let l = literal () in let k = rational () in (k, l) in
  let lemmas = listed (fun () -> listed pair) in
  let steps = listed (fun () -> listed literal) in
  let fuel = 1 + List.fold_left (fun most c -> List.fold_left (fun m (n, _) -> max m (I.to_int n)) most c) 0 clauses in
  refutes (fun n -> Hashtbl.find_opt atoms (I.to_int n)) fuel clauses lemmas steps

let () =
  let rec go accepted =
    match word () with
    | "linear" ->
      let name = word () in
      if refutation () then go (accepted + 1) else (Printf.printf "refused: %s\n" name; exit 1)
    | "" -> Printf.printf "%d refutations accepted\n" accepted
    | other -> failwith other in
  go 0

(* Reads what the checker followed, a line at a time, and follows it with the functions that were extracted from the proofs; reading is
   not verified.  Lists stand with their length before them, vectors and matrices too.
   linear:   the atoms (number, whole, strict, constant, coefficients), the clauses, the lemmas, the steps; literals are numbers but 0
   dominate: a bound, the nodes (number, generators, ends), the edges (from, to, two matrices, multipliers), the starts
   nonneg:   how many variables, a polynomial (number, or powers of the first variable), a tree in preorder
   below, above: x, p, q, compared as p <= e^x q and p > e^x q *)
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
let vector () = listed rational
let zero = { qnum = I.zero; qden = I.one }

let linear () =
  let atoms = Hashtbl.create 500 in
  let atom () =
    let n = number () in
    let whole = number () = 1 in
    let strict = number () = 1 in
    let const = rational () in
    let coef = vector () in
    Hashtbl.replace atoms n { body = { coef; const; strict }; whole } in
  ignore (listed atom);
  let clauses = listed (fun () -> listed literal) in
  let pair () = let l = literal () in let k = rational () in (k, l) in
  let lemmas = listed (fun () -> listed pair) in
  let steps = listed (fun () -> listed literal) in
  let fuel = 1 + List.fold_left (fun most c -> List.fold_left (fun m (n, _) -> max m (I.to_int n)) most c) 0 clauses in
  refutes (fun n -> Hashtbl.find_opt atoms (I.to_int n)) fuel clauses lemmas steps

let cone () =
  let bound = rational () in
  let held = Hashtbl.create 500 in
  let pair () = let f = vector () in let g = vector () in (f, g) in
  let node () =
    let n = number () in
    let generators = listed pair in
    let ends = listed pair in
    Hashtbl.replace held n (generators, ends);
    n in
  let nodes = listed node in
  let edge () =
    let src = number () in
    let dst = number () in
    let left = listed vector in
    let right = listed vector in
    let mult = listed vector in
    { src; dst; left; right; mult } in
  let edges = listed edge in
  let start () =
    let at_ = number () in
    let one = vector () in
    let other = vector () in
    let by_ = vector () in
    { at_; one; other; by_ } in
  let starts = listed start in
  let known n = match Hashtbl.find_opt held n with Some both -> both | None -> failwith "a node" in
  dominate { edges; nodes; gens = (fun n -> fst (known n)); ends = (fun n -> snd (known n)) } bound starts

let rec polynomial () =
  match word () with
  | "number" -> Const (rational ())
  | "powers" -> In_first (listed polynomial)
  | _ -> failwith "a polynomial"
let rec tree () =
  match word () with
  | "leaf" -> Leaf0
  | "split" ->
    let variable = number () in
    let at = rational () in
    let low = tree () in
    let high = tree () in
    Split (variable, at, low, high)
  | _ -> failwith "a tree"
let boxes () =
  let n = number () in
  let p = polynomial () in
  let t = tree () in
  nonneg_on 1000 n t p

(* with more and more terms of the series *)
let compared rule () =
  let x = rational () in
  let p = rational () in
  let q = rational () in
  let rec settled terms = terms <= 5120 && (rule x p q zero terms || settled (2 * terms)) in
  settled 10

let rules = [ ("linear", linear); ("dominate", cone); ("nonneg", boxes); ("below", compared below); ("above", compared above) ]

let () =
  let counts = Hashtbl.create 5 in
  let rec go () =
    match word () with
    | "" -> ()
    | rule ->
      let name = word () in
      (match List.assoc_opt rule rules with
       | None -> failwith rule
       | Some follow when follow () -> Hashtbl.replace counts rule (1 + Option.value ~default:0 (Hashtbl.find_opt counts rule))
       | Some _ -> Printf.printf "refused: %s, %s\n" rule name; exit 1);
      go () in
  go ();
  if Hashtbl.length counts = 0 then (print_endline "nothing was followed"; exit 1);
  List.iter (fun (rule, _) -> Printf.printf "%s: %d accepted\n" rule (Option.value ~default:0 (Hashtbl.find_opt counts rule))) rules

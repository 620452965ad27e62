(* Polynomials that are not negative on a cube: Bernstein coefficients on the leaves of a subdivision.  No axioms.

   A polynomial in several variables is a tree: a constant, or coefficients of the powers of the first variable, which are polynomials in
   the others.  On 0 <= t <= 1 the powers of degree at most d are made homogeneous in t and s = 1 - t, of degree d, by factors t + s = 1;
   if all coefficients of t^i s^(d-i) are at least 0, so is the polynomial. *)
Require Import QArith Qfield List Lia Lqa Setoid Bool.
Import ListNotations.
Open Scope Q_scope.
Arguments Qred : simpl never.

Inductive poly := Const (q : Q) | In_first (cs : list poly).

Section Induction.
Variable P : poly -> Prop.
Hypothesis at_constants : forall q, P (Const q).
Hypothesis at_lists : forall cs, Forall P cs -> P (In_first cs).
Fixpoint poly_rect' (p : poly) : P p :=
  match p with
  | Const q => at_constants q
  | In_first cs => at_lists cs ((fix all (l : list poly) : Forall P l :=
      match l with [] => Forall_nil P | c :: l' => Forall_cons c (poly_rect' c) (all l') end) cs) end.
End Induction.

Fixpoint eval (p : poly) (xs : list Q) : Q :=
  match p with
  | Const q => q
  | In_first cs =>
    let (x, rest) := match xs with [] => (0, []) | x :: r => (x, r) end in
    (fix horner (l : list poly) : Q := match l with [] => 0 | c :: l' => eval c rest + x * horner l' end) cs end.

(* sums and multiples; shapes that do not fit together are refused *)
Fixpoint plus (fuel : nat) (p q : poly) : option poly :=
  match fuel with
  | O => None
  | S fuel' => match p, q with
    | Const a, Const b => Some (Const (Qred (a + b)))
    | In_first cs, In_first ds =>
      option_map In_first ((fix zip (l m : list poly) : option (list poly) :=
        match l, m with
        | [], _ => Some m
        | _, [] => Some l
        | c :: l', d :: m' => match plus fuel' c d, zip l' m' with Some e, Some r => Some (e :: r) | _, _ => None end
        end) cs ds)
    | Const a, In_first _ => if Qeq_bool a 0 then Some q else None
    | In_first _, Const b => if Qeq_bool b 0 then Some p else None end end.
Fixpoint times (k : Q) (p : poly) : poly :=
  match p with Const q => Const (Qred (k * q)) | In_first cs => In_first (map (times k) cs) end.

Definition horner (rest : list Q) (x : Q) := fix horner (l : list poly) : Q :=
  match l with [] => 0 | c :: l' => eval c rest + x * horner l' end.

Lemma eval_in cs x rest : eval (In_first cs) (x :: rest) == horner rest x cs.
Proof. simpl. induction cs as [|c cs IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

Lemma times_eval k p : forall xs, eval (times k p) xs == k * eval p xs.
Proof. induction p as [q|cs IH] using poly_rect'; intro xs.
  - simpl. apply Qred_correct.
  - simpl. destruct (match xs with [] => (0, []) | x :: r => (x, r) end) as [x rest].
    induction IH as [|c cs Hc Hcs IHcs]; simpl; [ring|]. rewrite Hc, IHcs. ring. Qed.

Lemma plus_eval fuel : forall p q r, plus fuel p q = Some r -> forall xs, eval r xs == eval p xs + eval q xs.
Proof. induction fuel as [|fuel IH]; intros p q r H xs; [discriminate|]. simpl in H.
  destruct p as [a|cs], q as [b|ds].
  - inversion H; subst r. simpl. apply Qred_correct.
  - destruct (Qeq_bool a 0) eqn:E; [|discriminate]. inversion H; subst r. apply Qeq_bool_iff in E. simpl. rewrite E. ring.
  - destruct (Qeq_bool b 0) eqn:E; [|discriminate]. inversion H; subst r. apply Qeq_bool_iff in E. simpl. rewrite E. ring.
  - match type of H with option_map _ (?z cs ds) = _ => set (zip := z) in H end.
    destruct (zip cs ds) as [es|] eqn:Z; [|discriminate]. inversion H; subst r. clear H.
    simpl. destruct (match xs with [] => (0, []) | x :: rest => (x, rest) end) as [x rest].
    revert ds es Z. induction cs as [|c cs IHc]; intros [|d ds] es Z; simpl in Z.
    + inversion Z. simpl. ring.
    + inversion Z. simpl. ring.
    + inversion Z. simpl. ring.
    + destruct (plus fuel c d) as [e|] eqn:Pe; [|discriminate].
      fold (zip cs ds) in Z. destruct (zip cs ds) as [rr|] eqn:Zr; [|discriminate]. inversion Z; subst es.
      simpl. rewrite (IH _ _ _ Pe rest), (IHc _ _ Zr). ring. Qed.

(* ---------- forms ---------- *)
Fixpoint power (s : Q) (n : nat) : Q := match n with O => 1 | S n' => s * power s n' end.

(* coefficients c_0 .. c_d of t^i s^(d-i): what they come to *)
Fixpoint form (rest : list Q) (t s : Q) (cs : list poly) : Q :=     (* c_0 s^d + t (c_1 .. c_d as a form of degree d-1) *)
  match cs with
  | [] => 0
  | c :: cs' => eval c rest * power s (length cs') + t * form rest t s cs' end.

(* multiply a form by t + s: new_i = c_i + c_(i-1) *)
Fixpoint raise_with (fuel : nat) (before : poly) (cs : list poly) : option (list poly) :=
  match cs with
  | [] => Some [before]
  | c :: cs' => match plus fuel before c, raise_with fuel c cs' with Some e, Some r => Some (e :: r) | _, _ => None end end.
Definition raise (fuel : nat) (cs : list poly) : option (list poly) :=
  match cs with [] => Some [] | c :: cs' => option_map (cons c) (raise_with fuel c cs') end.

(* from powers to a form: p = a_0 + t q, and q as a form of degree d - 1; a_0 (t + s)^d + t q *)
Fixpoint ones (fuel : nat) (a : poly) (d : nat) : option (list poly) :=
  match d with O => Some [a] | S d' => match ones fuel a d' with Some cs => raise fuel cs | None => None end end.
Fixpoint zip_plus (fuel : nat) (l m : list poly) : option (list poly) :=
  match l, m with
  | [], [] => Some []
  | c :: l', d :: m' => match plus fuel c d, zip_plus fuel l' m' with Some e, Some r => Some (e :: r) | _, _ => None end
  | _, _ => None end.
Fixpoint as_form (fuel : nat) (cs : list poly) : option (list poly) :=
  match cs with
  | [] => Some []
  | a :: cs' => match ones fuel a (length cs'), as_form fuel cs' with
                | Some o, Some f => match o with
                                    | [] => None
                                    | o0 :: o' => option_map (cons o0) (zip_plus fuel o' f) end
                | _, _ => None end end.

Lemma power_succ s n : power s (S n) == s * power s n.
Proof. reflexivity. Qed.

Lemma power_nonneg s n : 0 <= s -> 0 <= power s n.
Proof. intro S. induction n as [|n IH]; simpl; [lra | apply Qmult_le_0_compat; assumption]. Qed.

Lemma raise_with_length fuel : forall cs b r, raise_with fuel b cs = Some r -> length r = S (length cs).
Proof. induction cs as [|c cs IH]; intros b r H; simpl in H.
  - inversion H. reflexivity.
  - destruct (plus fuel b c); [|discriminate]. destruct (raise_with fuel c cs) as [r'|] eqn:R; [|discriminate].
    inversion H. simpl. rewrite (IH _ _ R). reflexivity. Qed.

Lemma raise_with_form fuel rest t s : forall cs b r, raise_with fuel b cs = Some r ->
  form rest t s r == eval b rest * power s (length cs) + (t + s) * form rest t s cs.
Proof. induction cs as [|c cs IH]; intros b r H; simpl in H.
  - inversion H. simpl. ring.
  - destruct (plus fuel b c) as [e|] eqn:Pe; [|discriminate].
    destruct (raise_with fuel c cs) as [r'|] eqn:R; [|discriminate]. inversion H; subst r. clear H.
    cbn [form length]. rewrite (raise_with_length fuel cs c r' R), (IH c r' R), (plus_eval fuel _ _ _ Pe rest), power_succ.
    ring. Qed.

Lemma raise_form fuel rest t s cs r : raise fuel cs = Some r -> form rest t s r == (t + s) * form rest t s cs.
Proof. destruct cs as [|c cs]; simpl; intro H.
  - inversion H. simpl. ring.
  - destruct (raise_with fuel c cs) as [r'|] eqn:R; [|discriminate]. inversion H; subst r. clear H.
    cbn [form]. rewrite (raise_with_length fuel cs c r' R), (raise_with_form fuel rest t s cs c r' R), power_succ. ring. Qed.

Lemma ones_form fuel rest t s a : t + s == 1 -> forall d r, ones fuel a d = Some r -> form rest t s r == eval a rest.
Proof. intro E. induction d as [|d IH]; intros r H; simpl in H.
  - inversion H. simpl. ring.
  - destruct (ones fuel a d) as [cs|]; [|discriminate]. rewrite (raise_form fuel rest t s cs r H), E, (IH cs eq_refl). ring. Qed.

Lemma zip_plus_form fuel rest t s : forall l m r, zip_plus fuel l m = Some r ->
  form rest t s r == form rest t s l + form rest t s m /\ length r = length m.
Proof. induction l as [|c l IH]; intros [|d m] r H; simpl in H; try discriminate.
  - inversion H. simpl. split; [ring | reflexivity].
  - destruct (plus fuel c d) as [e|] eqn:Pe; [|discriminate].
    destruct (zip_plus fuel l m) as [r'|] eqn:Z; [|discriminate]. inversion H; subst r. clear H.
    destruct (IH m r' Z) as [F L].
    assert (Ll : length l = length m).
    { clear - Z. revert m r' Z. induction l as [|x l IH]; intros [|y m] r Z; simpl in Z; try discriminate; [reflexivity|].
      destruct (plus fuel x y); [|discriminate]. destruct (zip_plus fuel l m) as [k|] eqn:K; [|discriminate].
      simpl. rewrite (IH m k K). reflexivity. }
    split; [|simpl; rewrite L; reflexivity].
    cbn [form]. rewrite L, Ll, F, (plus_eval fuel _ _ _ Pe rest). ring. Qed.

Lemma as_form_value fuel rest t s : t + s == 1 -> forall cs r, as_form fuel cs = Some r ->
  form rest t s r == horner rest t cs /\ length r = length cs.
Proof. intro E. induction cs as [|a cs IH]; intros r H; simpl in H.
  - inversion H. simpl. split; reflexivity.
  - destruct (ones fuel a (length cs)) as [o|] eqn:O; [|discriminate].
    destruct (as_form fuel cs) as [f|] eqn:F; [|discriminate]. destruct o as [|o0 o']; [discriminate|].
    destruct (zip_plus fuel o' f) as [z|] eqn:Z; [|discriminate]. inversion H; subst r. clear H.
    destruct (IH f eq_refl) as [Vf Lf]. destruct (zip_plus_form fuel rest t s o' f z Z) as [Vz Lz].
    pose proof (ones_form fuel rest t s a E _ _ O) as Vo. cbn [form] in Vo.
    assert (Lo : length o' = length z).
    { rewrite Lz. clear - Z. revert f z Z. induction o' as [|x l IH]; intros [|y m] r Z; simpl in Z; try discriminate; [reflexivity|].
      destruct (plus fuel x y); [|discriminate]. destruct (zip_plus fuel l m) as [k|] eqn:K; [|discriminate].
      simpl. rewrite (IH m k K). reflexivity. }
    split; [|simpl; rewrite Lz, Lf; reflexivity].
    cbn [form horner]. rewrite <- Lo, Vz, Vf, <- Vo. ring. Qed.

Definition in_cube (xs : list Q) : Prop := Forall (fun x => 0 <= x <= 1) xs.

Fixpoint at_least_zero (fuel : nat) (p : poly) : bool :=     (* every coefficient of the form in the first variable is at least 0 *)
  match fuel with
  | O => false
  | S fuel' => match p with
    | Const q => Qle_bool 0 q
    | In_first cs => match as_form fuel cs with Some f => forallb (at_least_zero fuel') f | None => false end end end.

Lemma form_nonneg rest t s cs : 0 <= t -> 0 <= s -> (forall c, In c cs -> 0 <= eval c rest) -> 0 <= form rest t s cs.
Proof. intros T S. induction cs as [|c cs IH]; intro H; simpl; [lra|].
  assert (0 <= eval c rest * power s (length cs)).
  { apply Qmult_le_0_compat; [apply H; left; reflexivity | apply power_nonneg; exact S]. }
  assert (0 <= t * form rest t s cs).
  { apply Qmult_le_0_compat; [exact T | apply IH; intros d I; apply H; right; exact I]. }
  lra. Qed.

Theorem at_least_zero_sound fuel : forall p xs, at_least_zero fuel p = true -> in_cube xs -> 0 <= eval p xs.
Proof. induction fuel as [|fuel IH]; intros p xs H C; [discriminate|]. destruct p as [q|cs].
  - simpl in *. apply Qle_bool_iff. exact H.
  - cbn [at_least_zero] in H. destruct (as_form (S fuel) cs) as [f|] eqn:F; [|discriminate].
    rewrite forallb_forall in H. destruct xs as [|x xs].
    + assert (E : eval (In_first cs) [] = eval (In_first cs) [0]) by reflexivity. rewrite E.
      destruct (as_form_value (S fuel) [] 0 1 ltac:(ring) cs f F) as [V _]. rewrite (eval_in cs 0 []), <- V.
      apply form_nonneg; [lra | lra |]. intros c I. apply IH; [apply H; exact I | constructor].
    + inversion C as [|? ? Cx Cr]. subst.
      destruct (as_form_value (S fuel) xs x (1 - x) ltac:(ring) cs f F) as [V _]. rewrite (eval_in cs x xs), <- V.
      apply form_nonneg; [lra | lra |]. intros c I. apply IH; [apply H; exact I | exact Cr]. Qed.

(* ---------- subdivision: the first variable at a + b u, then the variables in turn ---------- *)
Fixpoint substitute (fuel : nat) (a b : Q) (cs : list poly) : option (list poly) :=     (* Horner: c + (a + b u) r(u) *)
  match cs with
  | [] => Some []
  | c :: cs' => match substitute fuel a b cs' with
    | None => None
    | Some r => match plus fuel (In_first [c]) (In_first (map (times a) r)) with
      | Some (In_first m) => match plus fuel (In_first m) (In_first (Const 0 :: map (times b) r)) with
        | Some (In_first n) => Some n | _ => None end
      | _ => None end end end.

Lemma horner_times rest x k cs : horner rest x (map (times k) cs) == k * horner rest x cs.
Proof. induction cs as [|c cs IH]; simpl; [ring|]. rewrite times_eval, IH. ring. Qed.

Lemma substitute_value fuel a b rest u : forall cs r, substitute fuel a b cs = Some r ->
  horner rest u r == horner rest (a + b * u) cs.
Proof. induction cs as [|c cs IH]; intros r H; simpl in H.
  - inversion H. reflexivity.
  - destruct (substitute fuel a b cs) as [r'|]; [|discriminate].
    destruct (plus fuel (In_first [c]) (In_first (map (times a) r'))) as [[|m]|] eqn:P1; try discriminate.
    destruct (plus fuel (In_first m) (In_first (Const 0 :: map (times b) r'))) as [[|n]|] eqn:P2; try discriminate.
    inversion H; subst r. pose proof (plus_eval fuel _ _ _ P2 (u :: rest)) as E2. pose proof (plus_eval fuel _ _ _ P1 (u :: rest)) as E1.
    rewrite !eval_in in E1, E2. rewrite E2, E1. cbn [horner eval]. rewrite !horner_times, (IH r' eq_refl). ring. Qed.

Lemma eval_compat p : forall xs ys, Forall2 Qeq xs ys -> eval p xs == eval p ys.
Proof. induction p as [q|cs IH] using poly_rect'; intros xs ys F; [reflexivity|].
  inversion F as [|x y xs' ys' E F' Hx Hy]; subst; simpl.
  - reflexivity.
  - induction IH as [|c cs Hc Hcs IHcs]; simpl; [reflexivity|]. rewrite (Hc _ _ F'), IHcs, E. reflexivity. Qed.

Fixpoint substitute_at (fuel k : nat) (a b : Q) (p : poly) : option poly :=     (* the k-th variable becomes a + b u *)
  match p with
  | Const q => Some p
  | In_first cs => match k with
    | O => option_map In_first (substitute fuel a b cs)
    | S k' => option_map In_first ((fix all (l : list poly) : option (list poly) := match l with
        | [] => Some []
        | c :: l' => match substitute_at fuel k' a b c, all l' with Some e, Some r => Some (e :: r) | _, _ => None end end) cs)
    end end.
Fixpoint move (k : nat) (a b : Q) (xs : list Q) : list Q :=
  match xs, k with
  | [], _ => []
  | x :: r, O => (a + b * x) :: r
  | x :: r, S k' => x :: move k' a b r end.

Lemma substitute_at_value fuel a b p : forall k q xs, (k < length xs)%nat -> substitute_at fuel k a b p = Some q ->
  eval q xs == eval p (move k a b xs).
Proof. induction p as [c|cs IH] using poly_rect'; intros k q xs L H.
  - destruct k; simpl in H; inversion H; reflexivity.
  - destruct xs as [|x rest]; [simpl in L; lia|]. destruct k as [|k]; simpl in H.
    + destruct (substitute fuel a b cs) as [r|] eqn:S; [|discriminate]. inversion H; subst q. cbn [move].
      rewrite !eval_in. apply (substitute_value fuel). exact S.
    + match type of H with option_map _ (?f cs) = _ => set (all := f) in H end.
      destruct (all cs) as [ds|] eqn:A; [|discriminate]. inversion H; subst q. clear H. cbn [move]. rewrite !eval_in.
      assert (Lr : (k < length rest)%nat) by (simpl in L; lia).
      revert ds A. induction IH as [|c cs Hc Hcs IHcs]; intros ds A; simpl in A.
      * inversion A. reflexivity.
      * destruct (substitute_at fuel k a b c) as [e|] eqn:E; [|discriminate].
        fold (all cs) in A. destruct (all cs) as [r|] eqn:R; [|discriminate]. inversion A; subst ds.
        cbn [horner]. rewrite (Hc _ _ _ Lr E), (IHcs r eq_refl). reflexivity. Qed.

Inductive tree := Leaf | Split (variable : nat) (at_ : Q) (low high : tree).
Definition unit_between (q : Q) : bool := Qle_bool 0 q && Qle_bool q 1.

Fixpoint nonneg_on (fuel n : nat) (t : tree) (p : poly) : bool :=
  match t with
  | Leaf => at_least_zero fuel p
  | Split k m low high => Nat.ltb k n && unit_between m &&
    match substitute_at fuel k 0 m p, substitute_at fuel k m (1 - m) p with
    | Some l, Some h => nonneg_on fuel n low l && nonneg_on fuel n high h
    | _, _ => false end end.

(* every point of the cube is one of the lower or of the upper part *)
Lemma parts m : 0 <= m <= 1 -> forall k xs, (k < length xs)%nat -> in_cube xs ->
  exists ys, in_cube ys /\ length ys = length xs /\
    (Forall2 Qeq (move k 0 m ys) xs \/ Forall2 Qeq (move k m (1 - m) ys) xs).
Proof. intro M. induction k as [|k IH]; intros [|x xs] L C; simpl in L; try lia; inversion C as [|? ? Cx Cr]; subst.
  - assert (R : Forall2 Qeq xs xs) by (clear; induction xs; constructor; [reflexivity | assumption]).
    destruct (Qlt_le_dec x m) as [X|X].
    + exists (x / m :: xs). split; [|split; [reflexivity|]].
      * constructor; [|exact Cr]. split; [apply Qle_shift_div_l; lra | apply Qle_shift_div_r; lra].
      * left. constructor; [field; lra | exact R].
    + destruct (Qeq_dec m 1) as [M1|M1].
      * exists (1 :: xs). split; [constructor; [lra | exact Cr]|]. split; [reflexivity|]. right.
        constructor; [lra | exact R].
      * exists ((x - m) / (1 - m) :: xs). split; [|split; [reflexivity|]].
        -- constructor; [|exact Cr]. split; [apply Qle_shift_div_l; lra | apply Qle_shift_div_r; lra].
        -- right. constructor; [field; lra | exact R].
  - destruct (IH xs ltac:(lia) Cr) as [ys [Cy [Ly F]]]. exists (x :: ys). split; [constructor; assumption|].
    split; [simpl; rewrite Ly; reflexivity|].
    destruct F as [F|F]; [left | right]; cbn [move]; constructor; (reflexivity || exact F). Qed.

Theorem nonneg_sound fuel n t : forall p xs, nonneg_on fuel n t p = true -> length xs = n -> in_cube xs -> 0 <= eval p xs.
Proof. induction t as [|k m low IHl high IHh]; intros p xs H N C.
  - apply (at_least_zero_sound fuel); assumption.
  - cbn [nonneg_on] in H. apply andb_true_iff in H. destruct H as [H Hs]. apply andb_true_iff in H. destruct H as [K U].
    apply Nat.ltb_lt in K. unfold unit_between in U. apply andb_true_iff in U. destruct U as [U0 U1].
    apply Qle_bool_iff in U0, U1.
    destruct (substitute_at fuel k 0 m p) as [l|] eqn:Sl; [|discriminate].
    destruct (substitute_at fuel k m (1 - m) p) as [h|] eqn:Sh; [|discriminate].
    apply andb_true_iff in Hs. destruct Hs as [Hl Hh].
    destruct (parts m (conj U0 U1) k xs ltac:(lia) C) as [ys [Cy [Ly F]]].
    assert (Ky : (k < length ys)%nat) by lia. destruct F as [F|F].
    + rewrite <- (eval_compat p _ _ F), <- (substitute_at_value fuel 0 m p k l ys Ky Sl). apply IHl; [exact Hl | lia | exact Cy].
    + rewrite <- (eval_compat p _ _ F), <- (substitute_at_value fuel m (1 - m) p k h ys Ky Sh).
      apply IHh; [exact Hh | lia | exact Cy]. Qed.

Print Assumptions nonneg_sound.

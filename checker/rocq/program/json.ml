(* JSON as the format dp-statement/1 allows it: UTF-8, no field twice, no number but short whole ones. *)
exception Malformed of string

type t = Null | Truth of bool | Whole of int | Text of string | List of t list | Object of (string * t) list

let fail reason = raise (Malformed reason)
let is_digit c = c >= '0' && c <= '9'

let add_utf8 buffer code =
  if not (Uchar.is_valid code) then fail "half a surrogate pair";
  Buffer.add_utf_8_uchar buffer (Uchar.of_int code)

let utf8 text =
  let n = String.length text in
  let byte i = if i < n then Char.code text.[i] else 0 in
  let tail i = byte i land 0xC0 = 0x80 in
  let rec go i =
    if i >= n then true
    else
      let a = byte i and b = byte (i + 1) in
      if a < 0x80 then go (i + 1)
      else if a >= 0xC2 && a <= 0xDF then tail (i + 1) && go (i + 2)
      else if a land 0xF0 = 0xE0 then
        tail (i + 1) && tail (i + 2) && (a > 0xE0 || b >= 0xA0) && (a <> 0xED || b < 0xA0) && go (i + 3)
      else
        a >= 0xF0 && a <= 0xF4 && tail (i + 1) && tail (i + 2) && tail (i + 3)
        && (a > 0xF0 || b >= 0x90) && (a < 0xF4 || b < 0x90) && go (i + 4)
  in
  go 0

let parse text =
  let at = ref 0 in
  let peek () = if !at < String.length text then text.[!at] else '\000' in
  let next () = let c = peek () in incr at; c in
  let rec space () = match peek () with ' ' | '\t' | '\n' | '\r' -> incr at; space () | _ -> () in
  let expect c = if next () <> c then fail "this is not JSON" in
  let word w value = String.iter expect w; value in
  let hex4 () =
    let digit c = match c with
      | '0' .. '9' -> Char.code c - 48 | 'a' .. 'f' -> Char.code c - 87 | 'A' .. 'F' -> Char.code c - 55
      | _ -> fail "this is not JSON" in
    let a = digit (next ()) in let b = digit (next ()) in let c = digit (next ()) in let d = digit (next ()) in
    (((a * 16) + b) * 16 + c) * 16 + d in
  let quoted () =
    expect '"';
    let b = Buffer.create 16 in
    let rec go () = match next () with
      | '"' -> Buffer.contents b
      | '\\' ->
          (match next () with
           | '"' -> Buffer.add_char b '"' | '\\' -> Buffer.add_char b '\\' | '/' -> Buffer.add_char b '/'
           | 'b' -> Buffer.add_char b '\b' | 'f' -> Buffer.add_char b '\012' | 'n' -> Buffer.add_char b '\n'
           | 'r' -> Buffer.add_char b '\r' | 't' -> Buffer.add_char b '\t'
           | 'u' ->
               let high = hex4 () in
               if high >= 0xD800 && high < 0xDC00 then begin
                 expect '\\'; expect 'u';
                 let low = hex4 () in
                 if low < 0xDC00 || low > 0xDFFF then fail "half a surrogate pair";
                 add_utf8 b (0x10000 + ((high - 0xD800) lsl 10) + (low - 0xDC00))
               end else add_utf8 b high
           | _ -> fail "this is not JSON");
          go ()
      | c when c < ' ' -> fail "this is not JSON"
      | c -> Buffer.add_char b c; go () in
    go () in
  let whole () =
    let start = !at in
    if peek () = '-' then incr at;
    while is_digit (peek ()) do incr at done;
    let s = String.sub text start (!at - start) in
    let digits = if s.[0] = '-' then String.sub s 1 (String.length s - 1) else s in
    if digits = "" || String.length s > 11 || s = "-0" || (String.length digits > 1 && digits.[0] = '0')
       || (match peek () with '.' | 'e' | 'E' -> true | _ -> false)
    then fail "numbers are short and whole, or texts";
    Whole (int_of_string s) in
  let rec items close one =
    space ();
    if peek () = close then (incr at; [])
    else
      let rec more () =
        let item = one () in
        space ();
        match next () with
        | ',' -> item :: more ()
        | c when c = close -> [item]
        | _ -> fail "this is not JSON" in
      more () in
  let rec value depth =
    if depth > 100 then fail "this is not JSON";
    space ();
    match peek () with
    | '{' ->
        incr at;
        let fields = items '}' (fun () ->
          space (); let name = quoted () in
          space (); expect ':'; let v = value (depth + 1) in (name, v)) in
        let names = List.sort compare (List.map fst fields) in
        let rec twice = function a :: (b :: _ as rest) -> a = b || twice rest | _ -> false in
        if twice names then fail "a field is there twice";
        Object fields
    | '[' -> incr at; List (items ']' (fun () -> value (depth + 1)))
    | '"' -> Text (quoted ())
    | 't' -> word "true" (Truth true) | 'f' -> word "false" (Truth false) | 'n' -> word "null" Null
    | '-' | '0' .. '9' -> whole ()
    | _ -> fail "this is not JSON" in
  if String.length text > 1 lsl 20 then fail "more than 1048576 bytes";
  if not (utf8 text) then fail "this is not JSON in UTF-8";
  let result = value 0 in
  space ();
  if !at <> String.length text then fail "this is not JSON";
  result

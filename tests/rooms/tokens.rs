//! Paths inside tokens that no parser has looked at: the bodies of macros and attributes. Knows tokens only, and nothing of rooms.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path as it stands in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its segments, `super` and `crate` as they stand.
    pub segments: Vec<String>,
    /// Whether it takes in all below it, or gives it another name: `::*`, `as`.
    pub open: bool,
    /// The line, from 1.
    pub line: usize,
    /// Whether it stands next to `==` or `!=`.
    pub compared: bool,
    /// The innermost macro that it stands in; empty in an attribute.
    pub inside: String,
}

/// Every path of the tokens of the macro `inside`. In an attribute (no macro), also those that stand as text: `#[serde(with = "…")]`.
pub fn paths(stream: TokenStream, inside: &str) -> Vec<Written> {
    let mut found = Vec::new();
    walk(&stream.into_iter().collect::<Vec<_>>(), inside, &mut found);
    found
}

/// Calls `see` with every identifier and the token after it, whatever stands around them.
pub fn each_ident(stream: TokenStream, see: &mut impl FnMut(&proc_macro2::Ident, Option<&TokenTree>)) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => each_ident(group.stream(), see),
            TokenTree::Ident(ident) => see(ident, tokens.get(at + 1)),
            _ => {}
        }
    }
}

fn walk(tokens: &[TokenTree], inside: &str, found: &mut Vec<Written>) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(_) => {
                let (start, had) = (at, found.len());
                at = path_from(tokens, at, &[], found);
                let compared = compared(tokens, start, at);
                found[had..].iter_mut().for_each(|written| (written.compared, written.inside) = (compared, inside.to_owned()));
                continue;
            }
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                walk(&inner, called(tokens, at).as_deref().unwrap_or(inside), found);
            }
            TokenTree::Literal(literal) if inside.is_empty() => found.extend(text_path(literal)),
            _ => {}
        }
        at += 1;
    }
}

/// The macro whose tokens the group at `at` holds, if it is one's.
fn called(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at.checked_sub(2)?..at)? {
        [TokenTree::Ident(name), TokenTree::Punct(bang)] if bang.as_char() == '!' => Some(plain(name)),
        _ => None,
    }
}

/// Reads one path that begins at `at`, after `prefix`, and says where it ends.
fn path_from(tokens: &[TokenTree], mut at: usize, prefix: &[String], found: &mut Vec<Written>) -> usize {
    let mut segments = prefix.to_vec();
    let line = tokens[at].span().start().line;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => segments.push(plain(ident)),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                members(group.stream(), &segments, found);
                return at + 1;
            }
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                found.push(written(segments, true, line));
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !double_colon(tokens, at) {
            break;
        }
        at += 2;
    }
    let open = matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == "as");
    found.push(written(segments, open, line));
    at
}

/// `{a::b, self, c as d}` after a path.
fn members(stream: TokenStream, prefix: &[String], found: &mut Vec<Written>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for member in tokens.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')) {
        if !member.is_empty() {
            path_from(member, 0, prefix, found);
        }
    }
}

fn compared(tokens: &[TokenTree], start: usize, end: usize) -> bool {
    let sign = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if matches!(p.as_char(), '=' | '!'));
    (start >= 2 && sign(start - 1) && sign(start - 2)) || (sign(end) && sign(end + 1))
}

fn double_colon(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(at) && colon(at + 1)
}

fn text_path(literal: &proc_macro2::Literal) -> Option<Written> {
    let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).ok()?.value();
    let path = syn::parse_str::<syn::Path>(&text).ok()?;
    let segments = path.segments.iter().map(|segment| plain(&segment.ident)).collect();
    Some(written(segments, false, literal.span().start().line))
}

fn written(segments: Vec<String>, open: bool, line: usize) -> Written {
    Written { segments, open, line, compared: false, inside: String::new() }
}

/// An identifier without `r#`.
pub fn plain(ident: &proc_macro2::Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

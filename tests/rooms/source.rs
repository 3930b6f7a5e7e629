//! What one source file names: every path in it, resolved to where it leads. Knows Rust's syntax, and nothing of the table.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::tokens::{self, Written, plain};

/// The crate's own name: what the binary calls the library.
const OURS: &str = "unbacked";
/// Aliases of aliases are followed this far.
const ALIAS_DEPTH: usize = 8;
/// Macros that only look at a fate.
const LOOKS: [&str; 7] = ["matches", "assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"];

/// One thing that a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A path, resolved: `crate::…`, `std::…` or an outside crate's. `open`: with all below it, or under another name.
    Path { path: Vec<String>, open: bool },
    /// `name!`.
    Macro(String),
    /// An expression whose value is `Fate::Applied`, or a glob that would hide one.
    MakesApplied,
    /// The keyword `unsafe`.
    Unsafe,
    /// `#[path = …]`.
    PathAttribute,
}

/// A thing said, and on which line (from 1).
pub type Line = (usize, Said);

/// Reads a file. `file` is its path under `src`, `outside` the names of the crates that it could name.
pub fn read(file: &str, source: &str, outside: &BTreeSet<String>) -> Result<Vec<Line>, syn::Error> {
    let syntax = syn::parse_file(source)?;
    let mut aliases = Aliases { module: module_of(file), known: BTreeMap::new() };
    aliases.visit_file(&syntax);
    let mut reader = Reader { outside, module: module_of(file), aliases: aliases.known, of: Vec::new(), lines: Vec::new() };
    reader.visit_file(&syntax);
    let stream = source.parse::<proc_macro2::TokenStream>().map_err(syn::Error::from)?;
    tokens::each_ident(stream, &mut |ident, next| reader.word(ident, next));
    Ok(reader.lines)
}

/// `sim/speech/book.rs` is the module `sim::speech::book`.
fn module_of(file: &str) -> Vec<String> {
    let mut module: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let root = module.len() == 1 && matches!(module[0].as_str(), "lib" | "main");
    if root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Replaces `self`, `super` and `crate` at the head by where they lead from `module`.
fn grounded(module: &[String], path: &[String]) -> Vec<String> {
    let mut base: Vec<String> = match path.first().map(String::as_str) {
        Some("self" | "super") => [&["crate".to_owned()], module].concat(),
        Some(OURS) => return [&["crate".to_owned()], &path[1..]].concat(),
        Some("core" | "alloc") => return [&["std".to_owned()], &path[1..]].concat(),
        _ => return path.to_vec(),
    };
    let mut rest = path;
    while let Some(("self" | "super", tail)) = rest.split_first().map(|(head, tail)| (head.as_str(), tail)) {
        if rest[0] == "super" && base.len() > 1 {
            base.pop();
        }
        rest = tail;
    }
    base.extend_from_slice(rest);
    base
}

/// The leaves of a `use` tree: the path, whether it is open, the name that it gets here, the line.
fn leaves(tree: &syn::UseTree, prefix: &[String], found: &mut Vec<(Vec<String>, bool, Option<String>, usize)>) {
    let below = |name: &syn::Ident| [prefix, &[plain(name)]].concat();
    let line = tree.span().start().line;
    match tree {
        syn::UseTree::Path(path) => leaves(&path.tree, &below(&path.ident), found),
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, prefix, found)),
        syn::UseTree::Glob(_) => found.push((prefix.to_vec(), true, None, line)),
        syn::UseTree::Name(name) if name.ident == "self" && !prefix.is_empty() => {
            found.push((prefix.to_vec(), false, prefix.last().cloned(), line));
        }
        syn::UseTree::Name(name) => found.push((below(&name.ident), false, Some(plain(&name.ident)), line)),
        syn::UseTree::Rename(rename) => {
            let path = if rename.ident == "self" && !prefix.is_empty() { prefix.to_vec() } else { below(&rename.ident) };
            let whole = path.len() == 1 && matches!(path[0].as_str(), "crate" | "super" | OURS);
            found.push((path, whole, Some(plain(&rename.rename)), line));
        }
    }
}

/// First pass: which names stand for which paths in this file.
struct Aliases {
    module: Vec<String>,
    known: BTreeMap<String, Vec<Vec<String>>>,
}

impl Aliases {
    fn add(&mut self, name: String, path: &[String]) {
        let path = grounded(&self.module, path);
        if path.first() != Some(&name) {
            self.known.entry(name).or_default().push(path);
        }
    }
}

impl<'ast> Visit<'ast> for Aliases {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &[], &mut found);
        for (path, _, name, _) in found {
            if let Some(name) = name {
                self.add(name, &path);
            }
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        let head = if item.ident == "self" { "crate".to_owned() } else { plain(&item.ident) };
        let name = item.rename.as_ref().map_or_else(|| head.clone(), |(_, name)| plain(name));
        self.add(name, &[head]);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if let syn::Type::Path(path) = &*item.ty {
            self.add(plain(&item.ident), &segments(&path.path));
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.add(plain(&item.ident), &["self".to_owned(), plain(&item.ident)]);
        self.module.push(plain(&item.ident));
        visit::visit_item_mod(self, item);
        self.module.pop();
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| plain(&segment.ident)).collect()
}

/// Second pass: what is said.
struct Reader<'o> {
    outside: &'o BTreeSet<String>,
    module: Vec<String>,
    aliases: BTreeMap<String, Vec<Vec<String>>>,
    /// The types whose `impl` blocks stand around the place.
    of: Vec<String>,
    lines: Vec<Line>,
}

impl Reader<'_> {
    /// Everywhere that a written path may lead.
    fn resolved(&self, path: &[String], depth: usize) -> Vec<Vec<String>> {
        let aliases = path.first().and_then(|head| self.aliases.get(head));
        match aliases {
            Some(targets) if depth < ALIAS_DEPTH => {
                let full = targets.iter().map(|target| [target, &path[1..]].concat());
                full.flat_map(|path| self.resolved(&path, depth + 1)).collect()
            }
            _ => vec![grounded(&self.module, path)],
        }
    }

    fn say_path(&mut self, path: &[String], open: bool, line: usize) {
        for path in self.resolved(path, 0) {
            let known = matches!(path[0].as_str(), "crate" | "std") || self.outside.contains(&path[0]);
            if known && (path.len() > 1 || open) {
                self.lines.push((line, Said::Path { path, open }));
            }
        }
    }

    fn is_applied(&self, path: &[String]) -> bool {
        let own = self.of.last().is_some_and(|of| of == "Fate");
        let mut leads = self.resolved(path, 0);
        leads.push(path.to_vec());
        leads.iter().any(|path| match path.as_slice() {
            [.., fate, applied] if applied == "Applied" => fate == "Fate" || (fate == "Self" && own),
            _ => false,
        })
    }

    fn say_written(&mut self, written: Vec<Written>) {
        for Written { segments, open, line, compared, inside } in written {
            if segments.len() > 1 || open {
                self.say_path(&segments, open, line);
            }
            if !compared && !LOOKS.contains(&inside.as_str()) && self.is_applied(&segments) {
                self.lines.push((line, Said::MakesApplied));
            }
        }
    }

    fn word(&mut self, ident: &proc_macro2::Ident, next: Option<&proc_macro2::TokenTree>) {
        let line = ident.span().start().line;
        if ident == "unsafe" {
            self.lines.push((line, Said::Unsafe));
        }
        if matches!(next, Some(proc_macro2::TokenTree::Punct(bang)) if bang.as_char() == '!') {
            self.lines.push((line, Said::Macro(plain(ident))));
        }
    }

    fn fate_operand(&self, side: &syn::Expr) -> bool {
        match side {
            syn::Expr::Reference(inner) => self.fate_operand(&inner.expr),
            syn::Expr::Paren(inner) => self.fate_operand(&inner.expr),
            syn::Expr::Path(path) => self.is_applied(&segments(&path.path)),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        self.module.push(plain(&item.ident));
        item.content.iter().flat_map(|(_, items)| items).for_each(|item| self.visit_item(item));
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &[], &mut found);
        for (path, open, _, line) in found {
            if path.len() == 1 && self.outside.contains(&path[0]) {
                self.lines.push((line, Said::Path { path: path.clone(), open }));
            }
            if open && self.resolved(&path, 0).iter().any(|path| path.last().is_some_and(|last| last == "Fate")) {
                self.lines.push((line, Said::MakesApplied));
            }
            self.say_path(&path, open, line);
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        let name = if item.ident == "self" { "crate".to_owned() } else { plain(&item.ident) };
        self.lines.push((item.span().start().line, Said::Path { path: vec![name], open: true }));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = match &*item.self_ty {
            syn::Type::Path(path) => self.resolved(&segments(&path.path), 0).pop().and_then(|mut path| path.pop()),
            _ => None,
        };
        self.of.push(of.unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.of.pop();
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written = segments(path);
        let line = path.span().start().line;
        if path.leading_colon.is_some() && written.len() > 1 {
            self.lines.push((line, Said::Path { path: grounded(&[], &written), open: false }));
        } else if written.len() > 1 {
            self.say_path(&written, false, line);
        }
        visit::visit_path(self, path);
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        match pattern {
            syn::Pat::Path(path) => {
                path.qself.iter().for_each(|of| self.visit_qself(of));
                self.visit_path(&path.path);
            }
            _ => visit::visit_pat(self, pattern),
        }
    }

    fn visit_expr_path(&mut self, expr: &'ast syn::ExprPath) {
        if self.is_applied(&segments(&expr.path)) {
            self.lines.push((expr.span().start().line, Said::MakesApplied));
        }
        visit::visit_expr_path(self, expr);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        if self.is_applied(&segments(&expr.path)) {
            self.lines.push((expr.span().start().line, Said::MakesApplied));
        }
        visit::visit_expr_struct(self, expr);
    }

    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        let compares = matches!(expr.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_));
        for side in [&*expr.left, &*expr.right] {
            if !(compares && self.fate_operand(side)) {
                self.visit_expr(side);
            }
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        let name = segments(&item.path).pop().unwrap_or_default();
        self.say_written(tokens::paths(item.tokens.clone(), &name));
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let line = attribute.span().start().line;
        match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => return,
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => self.lines.push((line, Said::PathAttribute)),
            syn::Meta::List(list) if list.path.is_ident("cfg_attr") && list.tokens.to_string().contains("path =") => {
                self.lines.push((line, Said::PathAttribute));
            }
            _ => {}
        }
        if let syn::Meta::List(list) = &attribute.meta {
            self.say_written(tokens::paths(list.tokens.clone(), ""));
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_token_stream(&mut self, stream: &'ast proc_macro2::TokenStream) {
        self.say_written(tokens::paths(stream.clone(), "?"));
    }
}

//! What a model's name says about the rules that it is held to. A name that is not known has no rules of its own.

/// A Claude model, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claude<'n> {
    family: &'n str,
    version: (u32, u32),
}

/// How a Claude model takes `thinking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinks {
    /// `enabled` and `disabled`, as always.
    Manually,
    /// Not by a budget, and not told to stop.
    ByItself,
}

impl<'n> Claude<'n> {
    /// Reads `claude-opus-4-8`, `claude-sonnet-4-5-20250929`, `claude-3-5-haiku-latest`, `anthropic.claude-…`. `None` for others.
    pub(super) fn named(model: &'n str) -> Option<Self> {
        let (_, name) = model.split_once("claude-")?;
        let family = name.split('-').find(|part| matches!(*part, "opus" | "sonnet" | "haiku" | "fable" | "mythos"))?;
        // A longer number is a date.
        let mut numbers = name.split(['-', '.', '@']).filter(|part| part.len() <= 2).filter_map(|part| part.parse().ok());
        Some(Self { family, version: (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) })
    }

    fn is(self, family: &str, since: (u32, u32)) -> bool {
        self.family == family && self.version >= since
    }

    /// Fable and Mythos.
    fn is_of_myth(self) -> bool {
        matches!(self.family, "fable" | "mythos")
    }

    /// W-A19: the last message may be the beginning of the answer.
    pub(super) fn takes_prefill(self) -> bool {
        !self.is_of_myth() && self.version <= (4, 5)
    }

    /// W-A21: a system message may stand among the messages.
    pub(super) fn takes_late_system(self) -> bool {
        self.is("opus", (4, 8))
    }

    /// W-A66: a tool may be forced.
    pub(super) fn can_be_forced(self) -> bool {
        !self.is_of_myth()
    }

    /// W-A67.
    pub(super) fn thinks(self) -> Thinks {
        let by_itself = self.is_of_myth() || self.is("opus", (4, 7)) || self.is("sonnet", (5, 0));
        if by_itself { Thinks::ByItself } else { Thinks::Manually }
    }

    /// W-A68: `temperature`, `top_p` and `top_k` are understood.
    pub(super) fn samples(self) -> bool {
        !(self.family == "fable" || self.is("opus", (4, 7)) || self.is("sonnet", (5, 0)))
    }

    /// W-A68: `temperature` and `top_p` exclude each other.
    pub(super) fn samples_one_way(self) -> bool {
        self.version.0 == 4
    }

    /// W-A5: the most output tokens, where known.
    pub(super) fn most_tokens(self) -> Option<u64> {
        match (self.family, self.version) {
            ("haiku", (4, 5)) => Some(64_000),
            ("opus", (5, 0)) => Some(128_000),
            _ => None,
        }
    }
}

/// An OpenAI model, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpt {
    /// W-C12, W-C13: a reasoning model.
    pub(super) reasons: bool,
    version: (u32, u32),
}

impl Gpt {
    /// Reads `gpt-5.4-mini`, `gpt-4o`, `o3`. Others have no rules of their own.
    pub(super) fn named(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let number = name.strip_prefix("gpt-").and_then(|rest| rest.split('-').next()).unwrap_or_default();
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        let version = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
        let is_o = matches!(name.split('-').next(), Some("o1" | "o3" | "o4"));
        Self { reasons: is_o || (version.0 >= 5 && !name.contains("chat")), version }
    }

    /// W-C46: tools go only with an effort of `none`.
    pub(super) fn wants_no_effort_with_tools(self) -> bool {
        self.reasons && self.version >= (5, 4)
    }

    /// W-C46: has an effort where none is named.
    pub(super) fn has_effort_unasked(self) -> bool {
        self.reasons && self.version >= (5, 6)
    }
}

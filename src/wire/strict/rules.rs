//! The rules as data: what each says, what the provider answers when it is broken, and the mend.

/// A rule about a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id in the wire rules, with `W-` before it.
    pub id: &'static str,
    /// What must hold.
    pub sentence: &'static str,
    /// The HTTP status when broken.
    pub status: u16,
    /// `error.type` when broken.
    pub error_type: &'static str,
    /// OpenAI's `error.code` when broken.
    pub code: Option<&'static str>,
    /// The words by which clients tell it.
    pub says: &'static str,
    /// What to change.
    pub mend: &'static str,
}

const INVALID: &str = "invalid_request_error";

const fn a(id: &'static str, sentence: &'static str, says: &'static str, mend: &'static str) -> Rule {
    Rule { id, sentence, status: 400, error_type: INVALID, code: None, says, mend }
}

const fn c(id: &'static str, code: Option<&'static str>, sentence: &'static str, says: &'static str, mend: &'static str) -> Rule {
    Rule { id, sentence, status: 400, error_type: INVALID, code, says, mend }
}

/// All rules that [`super::check`] checks.
pub const RULES: &[Rule] = &[
    a("W-A3", "`model`, `max_tokens` and `messages` are required", "Field required", "send all three"),
    a("W-A4", "unknown fields are refused at every level", "Extra inputs are not permitted", "leave the field out"),
    a("W-A5", "`max_tokens` is an integer of 0 or more", "max_tokens: Input should be a valid integer", "send a whole number"),
    a(
        "W-A6",
        "`max_tokens: 0` does not go with streaming, thinking or a forced tool",
        "max_tokens: 0 is only for cache warming",
        "send 1 or more",
    ),
    Rule {
        id: "W-A8",
        sentence: "a body has at most 32 MB",
        status: 413,
        error_type: "request_too_large",
        code: None,
        says: "Request exceeds the maximum size",
        mend: "compact the conversation",
    },
    a("W-A9", "a request has at most 100,000 messages", "messages: too many", "compact the conversation"),
    a(
        "W-A12",
        "the body is valid UTF-8 JSON without lone surrogates",
        "The request body is not valid JSON",
        "replace lone surrogates, escape strings",
    ),
    a("W-A13", "stop sequences are not empty", "stop_sequences: must be non-empty", "leave the empty one out"),
    a("W-A15", "`messages` is not empty", "messages: at least one message is required", "send the user's message"),
    a("W-A16", "roles are `user` and `assistant`", "messages.role: Input should be 'user' or 'assistant'", "move system text to `system`"),
    a(
        "W-A17",
        "neighbours of one role are merged (strict switch)",
        "roles must alternate between \"user\" and \"assistant\"",
        "merge the two messages",
    ),
    a("W-A18", "the first message is a user one", "messages: first message must use the \"user\" role", "put a user message first"),
    a("W-A19", "the last message is no assistant one", "This model does not support assistant message prefill", "end on a user message"),
    a(
        "W-A24",
        "content is a string or a list of known blocks",
        "does not match any of the expected tags",
        "send text, tool_use, tool_result, thinking, image or document blocks",
    ),
    a("W-A25", "a user message has content", "user messages must have non-empty content", "leave the message out"),
    a("W-A26", "an assistant message has content", "all messages must have non-empty content", "leave the message out"),
    a("W-A27", "a text block is not empty", "text content blocks must be non-empty", "leave the block out"),
    a("W-A28", "a message's text is not only white space", "text content blocks must contain non-whitespace text", "leave the block out"),
    a("W-A29", "system text is not blank", "system: text content blocks must contain non-whitespace text", "leave it out"),
    a(
        "W-A32",
        "an assistant message does not end on thinking",
        "The final block in an assistant message cannot be `thinking`",
        "drop the message or add its text",
    ),
    a(
        "W-A33",
        "tool_use stands in assistant messages only, tool_result in user messages only",
        "`tool_use` blocks can only be in `assistant` messages; `tool_result` blocks can only be in `user` messages",
        "move the block",
    ),
    a(
        "W-A34",
        "every tool_use is answered in the very next turn",
        "`tool_use` ids were found without `tool_result` blocks immediately after",
        "answer every call, with an error if need be",
    ),
    a(
        "W-A35",
        "every tool_result answers a tool_use of the turn before",
        "unexpected `tool_use_id` found in `tool_result` blocks",
        "drop the orphan",
    ),
    a("W-A36", "one tool_result an id", "each tool_use must have a single result", "drop the second one"),
    a("W-A37", "tool_use ids are unique in the request", "`tool_use` ids must be unique", "mint fresh ids before storing"),
    a(
        "W-A38",
        "a tool_use id matches [a-zA-Z0-9_-]+",
        "tool_use.id: String should match pattern",
        "mint a legal id, for call and result alike",
    ),
    a("W-A39", "a tool_use id has at most 64 characters", "tool_use.id: String should have at most 64 characters", "mint a shorter id"),
    a(
        "W-A40",
        "tool_results come first in their message",
        "`tool_use` ids were found without `tool_result` blocks immediately after (results first)",
        "put text after the results",
    ),
    a(
        "W-A44",
        "a tool_result's content is text or a list of blocks",
        "tool_result.content: Input should be a valid string",
        "send a string",
    ),
    a(
        "W-A45",
        "a failed tool_result holds text only",
        "all content must be type text if `is_error` is true",
        "put images after the results",
    ),
    a("W-A46", "a tool_result names its call", "tool_result.tool_use_id: Field required", "send `tool_use_id`"),
    a("W-A47", "a tool_use's input is an object", "tool_use.input: Input should be a valid dictionary", "send {} for no arguments"),
    a("W-A48", "a tool_use names its tool", "tool_use.name: String should have at least 1 character", "send a placeholder name"),
    a(
        "W-A49",
        "a history with calls comes with tools",
        "Requests which include `tool_use` or `tool_result` blocks must define tools",
        "always send the tool list",
    ),
    a("W-A52", "a tool's name matches [a-zA-Z0-9_-]{1,128}", "tools.name: String should match pattern", "rename the tool"),
    a("W-A53", "tool names are unique", "tools: Tool names must be unique.", "rename one"),
    a("W-A54", "a tool has an input_schema", "tools.input_schema: Field required", "send `input_schema`, not `parameters`"),
    a("W-A55", "the root of a schema is an object", "input_schema.type: Input should be 'object'", "wrap it in an object"),
    a(
        "W-A56",
        "no oneOf, allOf, anyOf at a schema's root",
        "input_schema does not support oneOf, allOf, or anyOf at the top level",
        "move it into a property",
    ),
    a("W-A58", "a description is a string or absent", "tools.description: Input should be a valid string", "leave null out"),
    a(
        "W-A61",
        "tool_choice is an object of type auto, any, tool or none",
        "tool_choice: does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
        "send {\"type\":\"auto\"}",
    ),
    a("W-A62", "tool_choice comes with tools", "tool_choice may only be specified while providing tools", "leave it out"),
    a("W-A63", "tool_choice names a declared tool", "Tool not found in provided tools", "name a declared tool"),
    a(
        "W-A65",
        "a forced tool does not go with enabled thinking",
        "Thinking may not be enabled when tool_choice forces tool use.",
        "send auto",
    ),
    a(
        "W-A67",
        "thinking has a budget of 1024 or more, below max_tokens",
        "thinking.budget_tokens: Input should be greater than or equal to 1024 and below `max_tokens`",
        "raise max_tokens or lower the budget",
    ),
    a("W-A71", "a thinking block is signed", "thinking.signature: Field required", "drop unsigned thinking"),
    a("W-A72", "thinking takes no cache_control", "cache_control: Extra inputs are not permitted", "mark another block"),
    a("W-A73", "at most 4 blocks have cache_control", "A maximum of 4 blocks with cache_control may be provided.", "drop the oldest marks"),
    c("W-C2", Some("missing_required_parameter"), "`model` and `messages` are required", "Missing required parameter", "send both"),
    c("W-C3", Some("empty_array"), "`messages` is not empty", "expected an array with minimum length 1", "send the user's message"),
    c("W-C4", Some("unknown_parameter"), "unknown keys are refused", "Unknown parameter", "leave the key out"),
    c("W-C5", Some("invalid_type"), "fields have their types", "Invalid type", "send the documented type"),
    c("W-C12", Some("integer_below_min_value"), "max_completion_tokens is 1 or more", "expected a value >= 1", "send 1 or more"),
    c("W-C13", Some("array_above_max_length"), "at most 4 stop strings", "Invalid 'stop': array too long", "send at most 4"),
    c("W-C14", Some("integer_above_max_value"), "`n` is 1 to 8", "Invalid 'n': integer above maximum value", "send 1"),
    c("W-C15", None, "stream_options comes with stream:true", "is only allowed when 'stream' is enabled", "leave it out, or stream"),
    c(
        "W-C16",
        Some("string_above_max_length"),
        "a string has at most 1,048,576 characters",
        "string too long",
        "cut results before sending",
    ),
    c(
        "W-C17",
        Some("invalid_value"),
        "roles are system, developer, user, assistant, tool",
        "Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'",
        "use one of those",
    ),
    c(
        "W-C20",
        None,
        "every message has content, but for an assistant with calls",
        "Invalid value for 'content': expected a string, got null.",
        "send content, or drop the message",
    ),
    c("W-C21", None, "content is a string or a list of parts, not an empty list", "Invalid value for 'content'", "send a string"),
    c("W-C23", Some("empty_array"), "tool_calls is not empty", "Invalid 'tool_calls': empty array", "leave the key out"),
    c(
        "W-C24",
        None,
        "calls are followed directly by a tool message for each",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
        "answer every call before anything else",
    ),
    c(
        "W-C25",
        None,
        "calls at the end are answered too",
        "An assistant message with 'tool_calls' must be followed by tool messages (end of list)",
        "answer every call before asking again",
    ),
    c(
        "W-C26",
        None,
        "a tool message follows calls",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
        "drop the orphan",
    ),
    c(
        "W-C27",
        None,
        "a tool message names a call of the group",
        "'tool_call_id' not found in 'tool_calls' of previous message",
        "use the call's id",
    ),
    c("W-C28", None, "one tool message an id, ids unique in a message", "Duplicate value for 'tool_call_id'", "drop the second one"),
    c("W-C30", None, "a tool message holds text", "Invalid content for role 'tool'", "put images in a user message after the group"),
    c(
        "W-C32",
        Some("invalid_type"),
        "a call is {id, type, function{name, arguments}} with arguments as a string",
        "Invalid type for 'function.arguments': expected a string",
        "serialise the arguments",
    ),
    c(
        "W-C33",
        None,
        "arguments in history are a JSON object (for bridges)",
        "Failed to parse tool call arguments as JSON",
        "send {} for broken ones",
    ),
    c(
        "W-C34",
        Some("string_above_max_length"),
        "a call's id has at most 40 characters",
        "string too long. Expected a string with maximum length 40",
        "mint a shorter id",
    ),
    c("W-C37", Some("unsupported_value"), "the function role is gone", "Unsupported value: 'function'", "use tool messages"),
    c("W-C38", Some("empty_array"), "tools is not empty", "Invalid 'tools': empty array", "leave the key out"),
    c("W-C39", Some("array_above_max_length"), "at most 128 tools", "Invalid 'tools': array too long", "offer fewer"),
    c(
        "W-C40",
        Some("invalid_value"),
        "a function's name matches [a-zA-Z0-9_-]{1,64}",
        "Invalid 'function.name': string does not match pattern",
        "rename it",
    ),
    c(
        "W-C41",
        Some("invalid_function_parameters"),
        "parameters have an object at their root",
        "schema must be a JSON Schema of 'type: \"object\"'",
        "wrap it in an object",
    ),
    c(
        "W-C42",
        Some("invalid_function_parameters"),
        "a strict schema closes its objects and requires every key",
        "'additionalProperties' is required to be supplied and to be false",
        "close every object",
    ),
    c(
        "W-C43",
        Some("invalid_value"),
        "tool_choice is none, auto, required, or names a function",
        "Invalid value for 'tool_choice'",
        "send \"auto\"",
    ),
    c(
        "W-C44",
        None,
        "tool_choice names a declared function",
        "no function named so was specified in the 'functions' parameter",
        "name a declared one",
    ),
    c(
        "W-C45",
        None,
        "tool_choice and parallel_tool_calls come with tools",
        "'tool_choice' is only allowed when 'tools' are specified",
        "leave it out",
    ),
    c(
        "W-C57",
        Some("invalid_request_message_order"),
        "neighbours of one role are merged (strict switch)",
        "conversation roles must alternate user/assistant",
        "merge the two messages",
    ),
    c(
        "W-C58",
        Some("invalid_value"),
        "one system message, and it leads (strict switch)",
        "System message must be at the beginning.",
        "merge system texts at the head",
    ),
];

/// A rule by its id.
pub(super) fn by_id(id: &str) -> &'static Rule {
    // A test names every id that is checked, so the fallback is never seen.
    RULES.iter().find(|rule| rule.id == id).unwrap_or(&RULES[0])
}

/// Rules that are not about a request body that we can see, and so are checked elsewhere or not at all.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("A1 A2 A14", "headers: the HTTP client's business, not a body's"),
    ("A7 C6 E17", "which models exist is not ours to know"),
    ("A10 A11 C7", "token counts need the provider's tokenizer"),
    ("A20 A50 A51 A60", "server tools, deferred tools and programmatic calling are not used"),
    ("A21-A23", "system messages inside `messages` are never sent: A16 refuses them"),
    ("A30 A31 A41-A43 A64 A66 A68-A70", "accepted shapes, advice, or rules of models that a body does not name"),
    ("A57 A59", "a full check of JSON Schema drafts and of strict tools is the provider's"),
    ("A74-A82 B C47-C49 C74 D", "answers: the decoder's side"),
    ("C1 C8-C11 C18 C19 C22 C29 C31 C35 C36 C46", "headers, answers, accepted shapes, or rules of single models"),
    ("C50-C56 C59-C73", "quirks of compatible servers: for endpoint flags of a later version"),
    ("E", "OpenAI Responses is not spoken"),
];

//! J2, J9: the gate's lists, a language at a time. The sentences are written for the tests, not taken from the lists.

use unbacked::guards::phrases::lists::{LANGUAGES, SIGNS};
use unbacked::guards::phrases::{Looks, covered, looks_like};

/// One language: claims, promises, and what must go free.
struct Sample {
    lang: &'static str,
    claims: [&'static str; 4],
    promises: [&'static str; 3],
    free: [&'static str; 2],
}

const SAMPLES: [Sample; 17] = [
    Sample {
        lang: "eng",
        claims: ["Don't worry, I saved it.", "Your skills have been updated.", "Done!", "Both entries are now on your CV."],
        promises: ["Let me pull that up.", "I'll add it right away.", "I am going to look into it."],
        free: ["Which year did you start at Acme, and what was your title there?", "What would you like to have as your headline?"],
    },
    Sample {
        lang: "deu",
        claims: ["Keine Sorge, ich habe es gespeichert.", "Die Fähigkeiten wurden hinzugefügt.", "Erledigt!", "Der Eintrag ist gelöscht."],
        promises: ["Das speichere ich jetzt.", "Einen Moment bitte.", "Ich kümmere mich darum."],
        free: [
            "In welchem Jahr haben Sie dort angefangen, und wie lautete Ihre Berufsbezeichnung?",
            "Wie heißt die Universität, an der Sie studiert haben?",
        ],
    },
    Sample {
        lang: "fra",
        claims: ["Pas de souci, je l'ai enregistré.", "Vos compétences ont été mises à jour.", "C’est fait !", "L'entrée a été supprimée."],
        promises: ["Je vais l'ajouter.", "Un instant, je vérifie.", "Laissez-moi regarder cela."],
        free: ["En quelle année avez-vous commencé, et quel était votre poste ?", "Quel est le nom de votre ancien employeur ?"],
    },
    Sample {
        lang: "spa",
        claims: ["No te preocupes, lo guardé.", "He añadido las dos experiencias.", "¡Listo!", "La entrada ha sido eliminada."],
        promises: ["Voy a guardarlo.", "Un momento, por favor.", "Ahora mismo lo hago."],
        free: ["¿En qué año empezaste a trabajar allí y cuál era tu puesto?", "¿Cómo se llama la universidad donde estudiaste?"],
    },
    Sample {
        lang: "ita",
        claims: ["Tranquillo, l'ho salvato.", "Ho aggiunto le due esperienze.", "Fatto!", "La voce è stata eliminata."],
        promises: ["Lo salvo subito.", "Un attimo, per favore.", "Provvedo io."],
        free: ["In che anno hai iniziato a lavorare lì e qual era il tuo ruolo?", "Qual è il nome della tua vecchia azienda?"],
    },
    Sample {
        lang: "por",
        claims: ["Não se preocupe, já salvei.", "As experiências foram adicionadas.", "Pronto!", "A entrada foi excluída."],
        promises: ["Vou guardar isso.", "Um momento, por favor.", "Farei isso agora."],
        free: ["Em que ano você começou a trabalhar lá e qual era o seu cargo?", "Qual é o nome da universidade onde você estudou?"],
    },
    Sample {
        lang: "nld",
        claims: ["Geen zorgen, ik heb het opgeslagen.", "Je vaardigheden zijn bijgewerkt.", "Klaar!", "De vermelding is verwijderd."],
        promises: ["Ik ga het toevoegen.", "Een ogenblik.", "Laat me even kijken."],
        free: ["In welk jaar ben je daar begonnen en wat was je functie?", "Hoe heet de universiteit waar je hebt gestudeerd?"],
    },
    Sample {
        lang: "pol",
        claims: ["Spokojnie, zapisałem to.", "Umiejętności zostały zaktualizowane.", "Gotowe!", "Usunęłam ten wpis."],
        promises: ["Zaraz to zapiszę.", "Proszę chwilę poczekać.", "Dodam to."],
        free: [
            "W którym roku rozpoczęła Pani tam pracę i jakie było Pani stanowisko?",
            "Jak nazywa się uczelnia, na której Pan studiował?",
        ],
    },
    Sample {
        lang: "tur",
        claims: ["Merak etmeyin, kaydettim.", "Beceriler güncellendi.", "Tamamdır!", "Kayıt silindi."],
        promises: ["Hemen ekliyorum.", "Bir dakika lütfen.", "Bunu kaydedeceğim."],
        free: ["Orada hangi yıl çalışmaya başladınız ve göreviniz neydi?", "Okuduğunuz üniversitenin adı nedir?"],
    },
    Sample {
        lang: "rus",
        claims: ["Не волнуйтесь, я сохранил.", "Навыки были обновлены.", "Готово!", "Запись удалена."],
        promises: ["Сейчас добавлю.", "Одну минуту.", "Я займусь этим."],
        free: ["В каком году вы начали там работать и какую должность занимали?", "Как называется университет, в котором вы учились?"],
    },
    Sample {
        lang: "ukr",
        claims: ["Не хвилюйтеся, я зберіг.", "Навички було оновлено.", "Готово!", "Запис видалено."],
        promises: ["Зараз додам.", "Хвилинку, будь ласка.", "Я це зроблю."],
        free: ["У якому році ви почали там працювати і яку посаду обіймали?", "Як називається університет, у якому ви навчалися?"],
    },
    Sample {
        lang: "ell",
        claims: ["Μην ανησυχείτε, το αποθήκευσα.", "Οι δεξιότητες ενημερώθηκαν.", "Έτοιμο!", "Η εγγραφή διαγράφηκε."],
        promises: ["Θα το προσθέσω.", "Μια στιγμή, παρακαλώ.", "Το αποθηκεύω τώρα."],
        free: ["Ποια χρονιά ξεκινήσατε να εργάζεστε εκεί και ποια ήταν η θέση σας;", "Πώς λέγεται το πανεπιστήμιο όπου σπουδάσατε;"],
    },
    Sample {
        lang: "ara",
        claims: ["لا تقلق، لقد حفظتها.", "تمت إضافة المهارات.", "تم!", "حُذِفَ السجل."],
        promises: ["سأحفظ ذلك.", "لحظة من فضلك.", "سوف أضيفها."],
        free: ["في أي سنة بدأت العمل هناك وما هو مسماك الوظيفي؟", "ما اسم الجامعة التي درست فيها؟"],
    },
    Sample {
        lang: "hin",
        claims: ["चिंता न करें, मैंने सहेज लिया है।", "कौशल अपडेट कर दिए गए हैं।", "हो गया!", "मैंने अनुभव जोड़ दिया।"],
        promises: ["मैं इसे अभी जोड़ता हूँ।", "एक मिनट रुकिए।", "मैं यह करूँगा।"],
        free: ["आपने वहाँ किस वर्ष काम शुरू किया और आपका पद क्या था?", "आपकी पुरानी कंपनी का नाम क्या है?"],
    },
    Sample {
        lang: "jpn",
        claims: ["ご安心ください、保存しました。", "スキルを更新済みです。", "完了!", "項目は削除されました。"],
        promises: ["今すぐ追加します。", "少々お待ちください。", "これから保存いたします。"],
        free: ["そこで働き始めたのは何年で、役職は何でしたか？", "出身大学の名前は何ですか？"],
    },
    Sample {
        lang: "kor",
        claims: ["걱정 마세요, 저장했습니다.", "기술이 업데이트되었습니다.", "완료!", "항목을 지웠어요."],
        promises: ["지금 추가하겠습니다.", "잠시만요.", "바로 할게요."],
        free: ["그곳에서 일을 시작한 연도는 언제이고 직책은 무엇이었나요?", "다니신 대학교의 이름은 무엇인가요?"],
    },
    Sample {
        lang: "cmn",
        claims: ["别担心，我已经保存了。", "技能已更新。", "搞定！", "这条记录删除了。"],
        promises: ["我马上添加。", "请稍等。", "让我来处理。"],
        free: ["您是哪一年开始在那里工作的？职位是什么？", "您就读的大学叫什么名字？"],
    },
];

#[test]
fn j2_every_claim_of_every_language_is_a_hit() {
    for sample in &SAMPLES {
        for claim in sample.claims {
            assert!(looks_like(claim).is_some(), "{}: {claim}", sample.lang);
        }
    }
}

#[test]
fn j2_every_promise_of_every_language_is_a_hit() {
    for sample in &SAMPLES {
        for promise in sample.promises {
            assert!(looks_like(promise).is_some(), "{}: {promise}", sample.lang);
        }
    }
}

#[test]
fn j5_a_question_for_a_missing_field_is_no_hit_in_any_language() {
    for sample in &SAMPLES {
        for question in sample.free {
            assert_eq!(looks_like(question), None, "{}: {question}", sample.lang);
        }
    }
}

#[test]
fn j9_a_whole_question_is_covered_in_every_listed_language() {
    for sample in &SAMPLES {
        assert!(sample.free.iter().any(|question| covered(question)), "{}: the gate is of no use", sample.lang);
    }
}

#[test]
fn j9_every_listed_language_has_its_sample_and_its_own_patterns_compile_and_hit() {
    for phrases in &LANGUAGES {
        let sample = SAMPLES.iter().find(|sample| sample.lang == phrases.lang.code()).expect("a language without a sample");
        let own = regex::RegexBuilder::new(phrases.claims).case_insensitive(true).build().expect("the pattern compiles");
        let hits = sample.claims.iter().filter(|claim| own.is_match(claim)).count();
        assert!(hits >= 3, "{}: {hits} of 4", sample.lang);
        let own = regex::RegexBuilder::new(phrases.promises).case_insensitive(true).build().expect("the pattern compiles");
        assert!(sample.promises.iter().all(|promise| own.is_match(promise)), "{}", sample.lang);
    }
    assert_eq!(LANGUAGES.len(), SAMPLES.len());
}

#[test]
fn j2_claims_are_told_from_promises_and_calls() {
    assert_eq!(looks_like("I saved it."), Some(Looks::Claim));
    assert_eq!(looks_like("Hold on."), Some(Looks::Promise));
    assert_eq!(looks_like("create_skills(name=\"Rust\")"), Some(Looks::NarratedCall));
    assert_eq!(looks_like("When unsure I search the web."), None);
}

#[test]
fn j2_a_call_written_out_as_text_is_a_hit_in_every_dress() {
    let dresses = [
        r#"{"name": "create_x", "arguments": {"a": 1}}"#,
        r#"{"toolcalls":[{"name":"filevew"}]}"#,
        "{'tool': 'x'}",
        "<tool_call>x</tool_call>",
        "<invoke name=\"x\">",
        "<function=x>",
        "<|tool_call_begin|>",
        "[TOOL_CALLS: x]",
        "```json\n{}\n```",
        "```tool_code\nx\n```",
        "Action: Create\nAction Input: Rust",
        "functions.create",
        "Calling update_profile with your new headline.",
        r#"{"_verification": {"ok": true}}"#,
    ];
    for text in dresses {
        assert_eq!(looks_like(text), Some(Looks::NarratedCall), "{text}");
    }
}

#[test]
fn j2_marks_joiners_and_curly_apostrophes_hide_nothing() {
    for text in ["It is **saved**.", "_Saved_", "sa\u{200b}ved", "sav\u{ad}ed", "I’ll do it.", "\u{2705}", "SAVED", "\u{202e}saved"] {
        assert!(looks_like(text).is_some(), "{text:?}");
    }
    assert!(regex::Regex::new(SIGNS).is_ok_and(|signs| signs.is_match("✔")));
}

#[test]
fn j9_what_no_list_reads_is_not_covered() {
    let unread = [
        "",
        "12 – 34",
        "ok",
        "Not valmis.",
        "Tallensin kokemuksesi.",
        "Am salvat experiența ta.",
        "შევინახე თქვენი გამოცდილება.",
        "שמרתי את הניסיון שלך.",
        "บันทึกประสบการณ์ของคุณแล้ว",
        "Which year did you s\u{0430}ve that, and what was your title there?",
        "Que\u{0301} an\u{0303}o empezaste a trabajar allí y cuál era tu puesto",
    ];
    for text in unread {
        assert!(!covered(text), "{text:?}");
    }
}

#[test]
fn j9_a_sentence_in_another_language_cannot_hide_among_covered_ones() {
    let question = "Which year did you start at Acme, and what was your title there?";
    assert!(covered(question));
    assert!(covered(&format!("{question} {question}")));
    for lie in ["Tallensin kokemuksesi.", "Valmis!", "Tallennettu", "დასრულდა"] {
        assert!(!covered(&format!("{question} {lie}")), "{lie}");
        assert!(!covered(&format!("{lie}\n{question}")), "{lie}");
    }
}

#[test]
fn j2_a_deletion_told_as_absence_and_a_discarded_draft_are_hits_in_every_language() {
    let gone = [
        ["The old job is no longer there.", "I dropped your draft."],
        ["Die alte Stelle steht dort nicht mehr.", "Ich habe deinen Entwurf verworfen."],
        ["L'ancien poste n'est plus dans la liste, il a disparu.", "J'ai abandonné ton brouillon."],
        ["El antiguo puesto ya no aparece.", "Descarté tu borrador: ha quedado descartado."],
        ["Il vecchio lavoro non è più lì.", "Ho scartato la tua bozza."],
        ["O antigo emprego já não aparece.", "Descartei o teu rascunho."],
        ["De oude baan staat er niet meer.", "Ik heb je concept weggegooid."],
        ["Dawnej pracy już nie ma.", "Porzuciłam twój szkic."],
        ["Eski iş artık orada değil.", "Taslağını iptal ettim."],
        ["Прежней работы больше нет.", "Я отбросила ваш черновик."],
        ["Попередньої роботи більше немає.", "Я відкинула вашу чернетку."],
        ["Η παλιά δουλειά δεν υπάρχει πια.", "Πέταξα το προσχέδιό σας."],
        ["لم يعد العمل القديم هناك.", "تخلصت من مسودتك."],
        ["पुरानी नौकरी अब वहाँ नहीं है।", "मैंने आपका मसौदा रद्द किया।"],
        ["前の職歴はなくなりました。", "下書きは破棄済みです。"],
        ["예전 직장은 더 이상 없습니다.", "초안을 버렸습니다."],
        ["之前的工作没有了。", "草稿我丢弃了。"],
    ];
    for text in gone.as_flattened() {
        assert_eq!(looks_like(text), Some(Looks::Claim), "{text}");
    }
}

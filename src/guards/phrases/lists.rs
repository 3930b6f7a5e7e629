//! The pattern gate's lists as data, a language a line: stems and short phrases, built for recall. A hit that is none costs one judge call;
//! a miss lets a false claim through unread. They must not know how they are matched.
//!
//! What they are matched against has straight apostrophes, no emphasis marks, no invisible characters and no Arabic vowel signs.

use whatlang::Lang;

/// One language's patterns.
pub struct Phrases {
    /// The language, as the detector names it.
    pub lang: Lang,
    /// What completion claims are made of.
    pub claims: &'static str,
    /// What promises of action are made of.
    pub promises: &'static str,
}

/// Claims that need no language: check marks.
pub const SIGNS: &str = "[✓✔✅☑🗸]";

/// Tool calls, and results of them, written out as text.
pub const CALLS: [&str; 9] = [
    r#"["']?\b(?:name|tool|tool_name|tool_calls?|toolcalls?|function|function_call|recipient_name)["']\s*:\s*["'\[{]"#,
    r#"["'](?:arguments|parameters|input|args|_verification)["']\s*:"#,
    r"<\s*/?\s*(?:[a-z]+:)?(?:tool|function|invoke|call|parameter|execute|action|use_mcp)[a-z_-]*[\s=:>/]",
    r"<\|[^|\n]{1,40}\|>",
    r"\[/?\s*(?:tool|calling|called|invoke|function)[ _a-z]*[:\]]",
    r"\b(?:create|update|delete|discard|add|save|insert|remove|write|read|set)_[a-z_]+\b",
    r"\bfunctions?\.[a-z_]+",
    r"(?:^|\n)\s*(?:action|action input|tool|calling|observation|tool call|function call)\s*:",
    r"```\s*(?:tool|function|xml|json|tool_code|tool_call)",
];

/// Small words of English, Dutch and Hindi that their neighbours do not share: the languages for which the detector is seldom sure.
pub const COMMON: [&[&str]; 3] = [
    &[
        "the", "you", "your", "what", "which", "and", "would", "like", "that", "this", "have", "how", "did", "does", "with", "for", "of",
        "it", "to", "please", "when", "where", "there", "should", "could", "can", "any", "are", "from", "about", "they", "not",
    ],
    &[
        "je", "jouw", "uw", "wat", "welk", "welke", "het", "een", "niet", "ook", "hoe", "ben", "waar", "daar", "graag", "wanneer", "zijn",
        "met",
    ],
    &["और", "आप", "आपका", "आपकी", "आपके", "आपने", "है", "हैं", "था", "थी", "में", "क्या", "किस", "नाम", "कृपया", "यह", "कहाँ"],
];

/// The languages that the lists cover (J9).
pub const LANGUAGES: [Phrases; 17] = [
    Phrases {
        lang: Lang::Eng,
        claims: r"\b(?:saved?(?: it| that| this| them)\b|saved|stored|added|created|updated|changed|deleted|removed|recorded|submitted|applied|completed?\b|finished|inserted|edited|modified|corrected|fixed|renamed|replaced|entered|written|wrote|put (?:it|that|them|your|the)|registered|logged|filed|dropped|erased|discarded|cleared|moved|merged|done|all set|taken? care|in place|on file|went through|success|is live|you're (?:good|set)|sorted|it's (?:in|there|on|up)\b|now (?:in|on|up|shows?|has|have|lists?|contains?|reads?|reflects?|includes?|says?)\b|(?:is|are|has|have) (?:now|been)\b|made (?:the|that|this|those|these|your|a)\b|taken (?:out|off))|no longer|\bgone\b|dropped|cancell?ed|thrown away|threw|abandoned|brought|\bi(?:'ve| have| had| just| already| also| went)\b|(?:was|were|got) [a-z]+ed\b",
        promises: r"\b(?:i'll|i will|i shall|we'll|i'm going to|i am going to|going to|let me|allow me|give me an?|(?:one|just a|a) (?:moment|second|sec|minute)|hold on|hang on|stand by|bear with|working on|on it\b|right away|straight away|(?:i'm|i am) (?:now |just )?[a-z]+ing|about to|will (?:now |then )?(?:save|add|create|update|delete|remove|do|get|report|be)|shortly|in a (?:moment|minute|bit)|get back to you|proceed|continuing|saving|adding (?:it|that|this|your|the)|updating|now i)|\blater\b",
    },
    Phrases {
        lang: Lang::Deu,
        claims: r"gespeichert|gesichert|hinzugef(?:ü|ue)gt|angelegt|erstellt|aktualisiert|ge(?:ä|ae)ndert|gel(?:ö|oe)scht|entfernt|eingetragen|erledigt|\bfertig|(?:ü|ue)bernommen|abgeschlossen|erg(?:ä|ae)nzt|angepasst|erfasst|hinterlegt|eingef(?:ü|ue)gt|eingepflegt|ersetzt|korrigiert|umbenannt|verworfen|aufgenommen|vermerkt|notiert|gesetzt|(?:durch|aus)gef(?:ü|ue)hrt|vorgenommen|bearbeitet|abgelegt|geschrieben|gemacht|erfolgreich|geklappt|\b(?:ist|sind|steht|stehen|enth(?:ä|ae)lt) (?:jetzt|nun)|alles klar|nicht mehr|fallen gelassen|verschwunden|gestrichen|\bich hab|\bhabe ich\b|\bwurden?\b",
        promises: r"\bich (?:werde|speicher|f(?:ü|ue)ge|lege|aktualisier|l(?:ö|oe)sch|trag|k(?:ü|ue)mmer|mach|erstell|(?:ä|ae)nder|entfern|pr(?:ü|ue)f|schau|sehe|(?:ü|ue)bernehm|erg(?:ä|ae)nz|pass|meld|bin (?:gerade|dabei|schon))|\b(?:werde|speichere|f(?:ü|ue)ge|lege|trage|aktualisiere|l(?:ö|oe)sche|erledige|mache|(?:ä|ae)ndere|k(?:ü|ue)mmere) ich|lass(?:en sie)? mich|\bmoment\b|augenblick|\bgleich\b|\bsofort|\bjetzt|umgehend|\bwird (?:nun|gespeichert)|melde mich|\barbeite\b|bescheid|\bsp(?:ä|ae)ter\b",
    },
    Phrases {
        lang: Lang::Fra,
        claims: r"enregistr(?:é|ai)|sauvegardé|ajouté|\bcréé|(?:mis|mise|mises) à jour|modifié|changé|supprimé|effacé|retiré|enlevé|\bfaite?s?\b|voilà|terminé|complété|inscrit|consigné|corrigé|remplacé|renommé|intégré|pris(?:e|es)? en compte|effectué|appliqué|saisie?s?\b|inséré|\bnotée?s?\b|figure|c'est (?:bon|réglé)|\b(?:est|sont) (?:désormais|maintenant|à présent)|avec succès|bien été|réussi|abandonn|\bjet(?:é|ée|és|ées)\b|disparu|\bplus (?:dans|sous)\b|annulé|\bj'(?:ai|avais)\b|\b(?:a|ont|avait) (?:déjà |bien )?été\b",
        promises: r"\bje (?:vais|m'en|m'y|procède|l'|le |la |les |enregistr|ajout|crée|mets|supprim|modifi|vérifi|regard|revien|te |vous |suis en train|ferai)|laisse[zr]?[- ]moi|\bun (?:petit )?(?:instant|moment)|une (?:seconde|minute)|tout de suite|immédiatement|patiente|en cours|\bje [a-zà-ÿ']+erai\b|plus tard|je (?:travaille|m'occupe)",
    },
    Phrases {
        lang: Lang::Spa,
        claims: r"guardad[oa]|guardé|añadid[oa]|añadí|agregad[oa]|agregué|\bcread[oa]|\bcreé|actualizad[oa]|actualicé|modificad[oa]|modifiqué|cambiad[oa]|cambié|eliminad[oa]|eliminé|borrad[oa]|borré|quitad[oa]|quité|registrad[oa]|registré|\blist[oa]s?\b|hech[oa]|completad[oa]|terminad[oa]|finalizad[oa]|incorporad[oa]|incluid[oa]|corregid[oa]|corregí|reemplazad[oa]|realizad[oa]|aplicad[oa]|introducid[oa]|insertad[oa]|anotad[oa]|descartad[oa]|\bya (?:está|quedó|figura|aparece|tiene)|\bqued(?:ó|aron|a)\b|ha(?:n)? (?:quedado|sido)|con éxito|correctamente|\bhe(?:mos)? [a-zñáéíóú]+(?:ado|ido|to|cho)\b|\bya no\b|desapareci|cancel(?:é|ad)|desech(?:é|ad)|deshice|saqué",
        promises: r"\b(?:voy|vamos) a\b|d[eé]j[ae]me|perm[ií]t[ae]me|\bun (?:momento|segundo|instante|minuto)|\bahora\b|enseguida|en seguida|inmediat|\b(?:lo|la|los|las) (?:guard|añad|agreg|actualiz|hag|har|cre|borr|elimin|pon)|me (?:encargo|pongo|ocupo)|\bestoy [a-z]+ndo|proced|\b[a-zñ]+(?:aré|eré|iré)\b|\b(?:te|le) avis|pronto|más tarde|luego",
    },
    Phrases {
        lang: Lang::Ita,
        claims: r"salvat[oaie]|aggiunt[oaie]|\bcreat[oaie]|aggiornat[oaie]|modificat[oaie]|cambiat[oaie]|eliminat[oaie]|cancellat[oaie]|rimoss[oaie]|tolt[oaie]\b|registrat[oaie]|inserit[oaie]|\bfatt[oaie]|completat[oaie]|terminat[oaie]|\bfinit[oaie]|memorizzat|corrett[oaie]|sostituit|effettuat|applicat[oaie]|caricat[oaie]|impostat|annotat|archiviat|scartat|riportat|\b(?:è|sono) (?:ora|adesso|stat)|\bora (?:è|sono|risult|compar)|con successo|a posto|\bho [a-zàèéìòù']+(?:ato|ito|uto|to|so)\b|non è più|non sono più|sparit|annullat|abbandonat|buttat|\bho (?:già |appena )?[a-zàèéìòù]+t[oaie]\b",
        promises: r"\bvado a\b|\bora (?:lo|la|li|le|[a-z]+o)\b|\badesso\b|\bsubito\b|\bun (?:attimo|momento|istante|secondo)|fammi|mi faccia|lascia(?:mi)?\b|mi lasci|me ne occupo|ci penso|procedo|\bsto (?:per|[a-z]+ndo)|provved|\b[a-z]+(?:erò|irò|arò)\b|\b(?:lo|la|li|le) (?:salv|aggiung|facci|farò|inserisc|aggiorn|elimin|cre)|ti (?:farò|avvis)|a breve|più tardi|ci lavoro|\blavorando\b",
    },
    Phrases {
        lang: Lang::Por,
        claims: r"\bsalv(?:[oa]s?\b|ei|ad)|guard(?:ad|ei)|grav(?:ad|ei)|adicion(?:ad|ei)|acrescent(?:ad|ei)|\bcri(?:ad[oa]|ei)|a[c]?tualiz(?:ad|ei)|modific(?:ad|uei)|alter(?:ad|ei)|\bmud(?:ad|ei)|exclu(?:íd|í\b)|elimin(?:ad|ei)|apag(?:ad|uei)|remov(?:id|i\b)|regist(?:ad|ei|rad|rei)|inser(?:id|i\b)|pront[oa]|feit[oa]|\bfiz\b|conclu[ií]|terminad|finaliz|corrig(?:id|i\b)|substitu|aplicad|realizad|inclu(?:íd|í\b)|anotad|descartad|\b(?:foi|foram) [a-z]+d[oa]|\bjá (?:está|estão|consta|tem|aparece)|com sucesso|tudo certo|\bficou\b|já não|não está mais|descart(?:ei|ad)|joguei|cancel(?:ei|ad)|desapareceu|\b[a-zçã]{3,}ei\b",
        promises: r"\b(?:vou|vamos|irei|farei)\b|deix[ae](?:-me| eu)|\bum (?:momento|instante|segundo|minuto)|\bagora\b|já (?:vou|volto|fa[cç])|\bestou (?:a |[a-z]+ndo)|\b[a-zçã]+(?:arei|erei|irei)\b|\bsó um|aguarde|em breve|em seguida|imediatamente|\b(?:te|lhe) avis|\baviso\b|mais tarde|\btrabalh(?:o|ando)\b|depois",
    },
    Phrases {
        lang: Lang::Nld,
        claims: r"opgeslagen|bewaard|toegevoegd|aangemaakt|gemaakt|bijgewerkt|gewijzigd|aangepast|veranderd|verwijderd|gewist|geregistreerd|vastgelegd|ingevoerd|ingevuld|gedaan|\bklaar\b|afgerond|voltooid|doorgevoerd|geplaatst|gecorrigeerd|vervangen|hernoemd|genoteerd|gezet|geregeld|verwerkt|ge[üu]pdatet|opgenomen|vervallen|\bsta(?:at|an) (?:nu|er)|\b(?:is|zijn) nu|succes|gelukt|in orde|niet meer|weggegooid|weggehaald|geannuleerd|verdwenen|\bik (?:heb|had)\b|\bheb ik\b|\b(?:werd|werden|zijn|is) (?:er )?[a-z]+[dt]\b",
        promises: r"\bik (?:ga|zal|sla|voeg|maak|werk|pas|verwijder|zet|leg|kijk|regel|doe|kom|begin|ben)|\b(?:sla|voeg|ga|zal|zet|pas|maak|werk|doe|verwijder) ik|laat (?:me|mij)|\been (?:moment|ogenblik|seconde)|momentje|meteen|\bdirect\b|zo (?:meteen|dadelijk)|\bbezig|even geduld|laat het (?:je|u) weten|\blater\b|ermee bezig",
    },
    Phrases {
        lang: Lang::Pol,
        claims: r"zapisa|doda(?:ł|no|ne|ny|na)|dopisa|utworz(?:y|on)|stworz(?:y|on)|zaktualizowa|zmieni(?:ł|on|l)|zmodyfikowa|usun(?:ął|ęł|ięt|eł)|skasowa|zrobi(?:on|ł)|gotow|wykona(?:ł|n)|zakończ|ukończ|wprowadz(?:i|on)|uzupełni(?:ł|on)|poprawi(?:ł|on)|zarejestrowa|umie[sś]ci|umieszczon|wpisa|zastosowa|odrzuc|\bzostał|\bjuż (?:jest|są|widnie|w )|pomyślnie|załatwi|udało|porzuc|anulowa|wyrzuc|\bjuż nie\b|zniknę|[a-ząćęłńóśźż]{2,}(?:łem|łam)\b|[a-ząćęłńóśźż]{3,}(?:ono|ano|ięto)\b",
        promises: r"\bzaraz|\bjuż\b|zapisz[ęe]|\bdodam|utworz[ęe]|stworz[ęe]|zaktualizuj[ęe]|zmieni[ęe]|usun[ęe]\b|zrobi[ęe]\b|wprowadz[ęe]|sprawdz[ęe]|zajm[ęe]|pozwól|proszę (?:chwil|poczeka|zaczeka)|chwil|\bmoment|niezwłocznie|natychmiast|zapisuj[ęe]|dodaj[ęe]\b|aktualizuj[ęe]|usuwam|tworz[ęe]\b|zmieniam|\bteraz|dam znać|wkrótce|pracuj[ęe]|odezw|później",
    },
    Phrases {
        lang: Lang::Tur,
        claims: r"kayde(?:t|d)[a-zçğışöü]*|kayıtlı|kayda geç|ekle(?:d|n|m)[a-zçğışöü]*|oluştur(?:d|u)[a-zçğışöü]*|güncelle(?:d|n|m)[a-zçğışöü]*|değiş(?:ti|tir)[a-zçğışöü]*|\bsil(?:d|i|m)[a-zçğışöü]*|kaldır(?:d|ı)|çıkar(?:d|ı)|tamam|bitti|bitir|yap(?:t|ıld)|hallet|halloldu|hazır|[iİ]şle(?:d|n|m)|düzelt(?:t|il)|yaz(?:d|ıld)|gir(?:d|ild)|başarı|artık|yerleştir|[iİ]ptal ed|[a-zçğışöü]+(?:[dt][ıiuü]m|[dt][ıiuü]k|m[ıiuü]şt[ıiuü]m)\b|[a-zçğışöü]+(?:[ıiuü]ld[ıiuü]|nd[ıiuü])\b|iptal",
        promises: r"[a-zçğışöü]+(?:ecek|acak|eceğ|acağ)|[a-zçğışöü]+yorum\b|hemen|şimdi|bir (?:saniye|dakika|an)\b|birazdan|izin ver|bekle|haber ver|yakında|sonra",
    },
    Phrases {
        lang: Lang::Rus,
        claims: r"сохран(?:ил|ен|ён)|добав(?:ил|лен|ле)|созда(?:л|н)|обнов(?:ил|л[её]н|лен)|измен(?:ил|[её]н|ено)|удал(?:ил|[её]н)|вн[её]с|внесл|записа[лн]|готов|сделан|сделал|выполн(?:ил|ен)|заверш|\bубра[лн]|исправ(?:ил|лен)|заполн(?:ил|ен)|дополн(?:ил|ен)|замен(?:ил|[её]н)|переименова|зарегистрирова|примен[её]н|применил|отредактирова|отмен(?:ил|[её]н)|теперь|\bуже (?:есть|в|на)|успешно|ст[её]р|занес|получилось|больше не|выброс|отброс|пропал|исчез|\bя (?:уже |только что )?[а-яё]{3,}л[аи]?\b|\b(?:был|была|было|были) [а-яё]+н[аоы]?\b",
        promises: r"сейчас|сохраню|добавлю|создам|обновлю|изменю|удалю|внесу|запишу|сделаю|проверю|посмотрю|займусь|давайте|позвольте|минут|секунд|момент|сохраняю|добавляю|обновляю|удаляю|вношу|создаю|приступаю|подождите|\bбуду\b|собираюсь|скоро|немедленно|сообщу|работаю|дам знать|позже|позднее|потом",
    },
    Phrases {
        lang: Lang::Ukr,
        claims: r"збере(?:г|ж)|збер[іи]г|дода(?:в|ла|но|ли|н)|створ(?:ив|ил|ен)|онов(?:ив|ил|лен)|змін(?:ив|ил|ен)|видал(?:ив|ил|ен)|вн(?:іс|есл|есен)|записа(?:в|л|н)|готов|зробл|зробив|зробил|викона(?:в|л|н)|заверш|виправ|заповн(?:ив|ил|ен)|доповн(?:ив|ил|ен)|замін(?:ив|ил|ен)|прибра|тепер|вже (?:є|в|у|на)|успішно|зареєстр|застосова|скасова|вдалося|більше н|викину|відкину|зник|\bя (?:вже |щойно )?[а-яіїєґ]{3,}(?:в|ла)\b|\bбуло [а-яіїєґ]+но\b",
        promises: r"зараз|збережу|додам|створю|оновлю|зміню|видалю|внесу|запишу|зроблю|перевірю|подивлю|займуся|дозвольте|хвилин|секунд|момент|зберігаю|додаю|оновлюю|видаляю|створюю|вношу|зачекайте|\bбуду\b|збираюся|скоро|негайно|повідомлю|тиму\b|працюю|дам знати|пізніше|потім",
    },
    Phrases {
        lang: Lang::Ell,
        claims: r"αποθηκε[υύ]|αποθήκευσ|αποθηκεύ|προστ[εέ]θηκ|πρόσθεσ|προσθέσ|προστέθ|δημιο[υύ]ργ|ενημερώθ|ενημέρωσ|ενημερωμ|άλλαξ|αλλάξ|τροποπο[ιί]|διαγρ[αά](?:φη|ψ|μμ)|διέγραψ|αφαιρέ|αφαίρεσ|καταχωρ|καταχώρ|έγιν|έτοιμ|ολοκλ[ηή]ρ|έκανα|διορθώ|διόρθωσ|συμπλ[ηή]ρωσ|συμπληρώθ|\bέχ(?:ω|ει|ουν) |πλέον|επιτυχ|γράφτηκ|έγραψα|σβήστηκ|έσβησα|ακυρώ|ακύρωσ|πέταξ|παράτησ|εξαφαν|δεν υπάρχ|\p{Greek}{3,}(?:ησα|ωσα|ισα|αξα|αψα|εσα)\b",
        promises: r"\bθα |\bας |άσε με|αφήστε με|επιτρ[εέ]ψ|λεπτό|δευτερόλεπτο|στιγμή|τώρα|αμέσως|σε λίγο|αποθηκεύω|προσθέτω|ενημερώνω|διαγράφω|περιμέν|σύντομα|αργότερα|δουλεύω|ενημερώσω",
    },
    Phrases {
        lang: Lang::Ara,
        claims: r"حفظ|\bتم|أضف|اضف|أضيف|اضيف|أنشأ|انشأ|أنشئ|حدثت|تحديث|عدلت|غيرت|حذفت|حذف|أزلت|ازلت|أزيل|سجلت|سجل|أكملت|اكتمل|انته|أنجز|جاهز|أصبح|بنجاح|قمت |قمنا|لقد|محفوظ|أدخلت|أدرجت|صححت|استبدل|كتبت|ألغيت|تخلص|لم يعد|ألغي|إلغاء|رميت|اختف|أهملت|تجاهلت",
        promises: r"(?:^|\P{L})و?س(?:أ|نح|نق|نض|نع|نس|يتم|يكون|تجد)|سوف|دعني|دعيني|اسمح|لحظة|ثانية|دقيقة|الآن|الان|حالا|فورا|جار|أقوم|انتظر|قريبا|أعمل|لاحق|أعود",
    },
    Phrases {
        lang: Lang::Hin,
        claims: r"सहेज|सेव|सुरक्षित|जो(?:\u{0921}\u{093C}|\u{095C})|जुड|बना(?:या|यी|ई|ए| )|अपडेट|अद्यतन|बदल|हटा|मिटा|(?:गया|गई|गयी|गए|चुका|चुकी|चुके)(?:\P{L}|$)|कर (?:दिया|दी|दिए|लिया)|दर्ज|पूर[ाी] |तैयार|सफल|डाल|लिख (?:दिया|लिया)|संशोधित|\bअब |मैंने|रद्द|छो(?:\u{0921}\u{093C}|\u{095C})|(?:दिया|दी|दिए|लिया|ली|लिए) (?:ह|थ)",
        promises: r"(?:ू\u{0901}ग|ू\u{0902}ग)|(?:रहा|रही|करता|करती|देता|देती|लेता|लेती) ह(?:ू\u{0901}|ू\u{0902})|अभी|एक (?:पल|मिनट|सेकंड|क्षण)|तुरंत|चलिए|करने जा|थोड|प्रतीक्षा|रुक|जल्द|बाद में",
    },
    Phrases {
        lang: Lang::Jpn,
        claims: r"ました|済み|済んで|済です|完了|完成|反映|てあります|ています|した[。！!よ\n]|した$|しといた|やった|できた|保存|登録済|追加済|成功|なくなり|破棄|取り消",
        promises: r"します|いたします|致します|ましょう|お待ち|少々|しばらく|今から|これから|すぐ|ただいま|確認して|やってみ|するね|おきます|つもり|予定|のちほど|後ほど|あとで|後で",
    },
    Phrases {
        lang: Lang::Kor,
        claims: r"했습니다|했어|했음|했다|하였습니다|됐습니다|되었습니다|됐어|되었어|됐다|저장|추가됨|추가 ?완료|완료|끝났|끝냈|마쳤|만들었|바꿨|바꾸었|지웠|삭제됨|넣었|올렸|고쳤|적었|되어 있|돼 있|성공|반영|[았었했됐렸웠겼졌났뒀샀썼였][습었]|[았었했됐렸웠겼졌났뒀썼였]어|취소|더 이상|버렸",
        promises: r"겠습니다|할게|할께|게요|잠시|잠깐|기다려|지금|바로|곧 |하는 중|중입니다|중이에요|드릴게|드리겠|할 예정|할 것|나중에|이따",
    },
    Phrases {
        lang: Lang::Cmn,
        claims: r"已|了[。！!，,~～\s]|了$|完成|成功|搞定|好了|保存了|添加了|更新了|[删刪]除了|[创創]建了|修改了|弄好|[办辦]好|完[毕畢]|做好|写入|寫入|加上|妥当|妥當|了[^解]|不再|[丢丟][弃棄]|移除|取消|没有了|撤[销銷]",
        promises: r"我(?:会|會|将|將|来|來|这就|這就|先|去|正|现在|現在|帮|幫|再)|[让讓]我|稍等|[请請]稍|等一下|[马馬]上|立即|立刻|正在|接下[来來]|[现現]在就|[这這]就|稍[后後]|即[将將]|一[会會]儿|[晚之][后後点點]|回头|回頭",
    },
];

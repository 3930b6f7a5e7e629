//! The pattern gate's lists (J2): completion claims, promises and narrated calls, per language, built for recall. What a list does not cover
//! is never waved through (J9).

use std::sync::LazyLock;

use regex::RegexSet;
use whatlang::Lang;

/// What a text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// A completion claim.
    Claim,
    /// A promise of action.
    Promise,
    /// A tool call written out as text.
    NarratedCall,
}

/// The languages that the lists cover.
const COVERED: [Lang; 17] = [
    Lang::Eng,
    Lang::Deu,
    Lang::Fra,
    Lang::Spa,
    Lang::Ita,
    Lang::Por,
    Lang::Nld,
    Lang::Pol,
    Lang::Tur,
    Lang::Rus,
    Lang::Ukr,
    Lang::Ell,
    Lang::Ara,
    Lang::Hin,
    Lang::Jpn,
    Lang::Kor,
    Lang::Cmn,
];

const CLAIMS: [&str; 17] = [
    r"(?i)\b(saved|stored|added|created|updated|changed|deleted|removed|recorded|entered|written|set|done|complet\w*|finished|success\w*|in place|on file|took care|taken care)\b",
    r"(?i)(gespeichert|hinzugefügt|angelegt|erstellt|aktualisiert|geändert|gelöscht|entfernt|eingetragen|erledigt|fertig|erfolgreich)",
    r"(?i)(enregistré|ajouté|créé|mis[e]? à jour|modifié|supprimé|effacé|retiré|terminé|fait\b)",
    r"(?i)(guardad|añadid|agregad|cread|actualizad|modificad|eliminad|borrad|\blisto|hecho|guardé|añadí|creé|actualicé|eliminé)",
    r"(?i)(salvat|aggiunt|creat|aggiornat|modificat|eliminat|cancellat|rimoss|\bfatto)",
    r"(?i)(salv[oea]|guard(ad|ei)|adicion(ad|ei)|criad|criei|atualiz(ad|ei)|alterad|exclu[ií]|removid|removi|apagad|apaguei|pronto|feito)",
    r"(?i)(opgeslagen|toegevoegd|aangemaakt|bijgewerkt|gewijzigd|verwijderd|klaar|gedaan|gelukt)",
    r"(?i)(zapisa|doda(no|ł)|utworz|zaktualizowa|zmieni|usun|gotowe|zrobione)",
    r"(?i)(kaydedil|kaydettim|eklen|ekledim|oluştur|güncellen|güncelledim|değiştir|silin|sildim|kaldır|tamamlan|bitti|tamam)",
    r"(?i)(сохран|добав|создан|создал|обновл|обновил|измен|удал|готово|сделано|выполнен|записан)",
    r"(?i)(збереж|збер[іi]г|дода(но|в)|створ|оновл|оновив|змін|видал|готово|зроблено)",
    r"(?i)(αποθηκεύ|προσθ|προστ[εέ]θ|δημιουργ|ενημερώ|άλλαξ|διαγρ|αφαιρ|έτοιμο|έγινε|ολοκληρ)",
    r"(تم|حفظ|أضف|أضيف|أنشأ|أنشئ|حدّث|حدث|عدّل|حذف|أزل|انته|جاهز)",
    r"(सहेज|जोड़|बना|अपडेट|बदल|हटा|मिटा|पूरा|हो गया|दिया गया|कर दिया)",
    r"(保存|追加|作成|更新|変更|削除|完了|済み|登録|しました)",
    r"(저장|추가|생성|만들|업데이트|수정|변경|삭제|완료|했습니다|되었습니다|됐)",
    r"(保存|添加|新增|创建|建立|更新|修改|更改|删除|移除|完成|好了|已)",
];

const PROMISES: [&str; 17] = [
    r"(?i)(\b(i'll|i will|i am going to|i'm going to|let me|will (now )?(save|add|create|update|delete|do|get|report)|one moment|just a (moment|second)|right away|working on it|stand by|shortly|continuing)\b|hold on)",
    r"(?i)(ich (werde|speichere|füge|lege|mache|kümmere|melde)|moment|sofort|gleich|jetzt)",
    r"(?i)(je vais|je m'en|un (instant|moment)|tout de suite|laissez-moi|je (l')?enregistre|je reviens)",
    r"(?i)(voy a|lo (haré|hago|guardo|añado)|un momento|enseguida|ahora mismo|déjame|déjeme|te avis)",
    r"(?i)(sto per|ora |subito|un (attimo|momento)|lo (farò|faccio|salvo)|provvedo|lasciami|ti (farò|avviso))",
    r"(?i)(vou |um (momento|instante)|já |farei|agora|deixe-me|aviso)",
    r"(?i)(ik (ga|zal|sla|voeg|doe)|een (moment|ogenblik)|meteen|direct|zo dadelijk|laat me)",
    r"(?i)(zaraz|już |za chwil|chwil[ęa]|zrobię|dodam|zapiszę|teraz|dam znać)",
    r"(?i)(hemen|şimdi|birazdan|bir (dakika|saniye)|yapacağım|ekleyeceğim|kaydedeceğim|ediyorum|bildireceğim)",
    r"(?i)(сейчас|сделаю|добавлю|сохраню|минут|секунд|приступаю|сообщу|займусь)",
    r"(?i)(зараз|зроблю|додам|збережу|хвилин|секунд|повідомлю)",
    r"(?i)(τώρα|αμέσως|θα |μια στιγμή|ένα λεπτό)",
    r"(سأ|سوف|الآن|لحظة|حالا|دعني)",
    r"(अभी|मैं .*(करूँगा|करूंगा|करता हूँ|दूँगा|दूंगा)|एक (क्षण|मिनट|पल)|रुकि)",
    r"(します|今すぐ|少々|お待ち|これから|いたします|ただいま)",
    r"(하겠습니다|할게요|겠습니다|잠시|지금|바로|드리겠)",
    r"(马上|立即|现在|稍等|请稍|正在|我(会|将|来|这就)|让我)",
];

const CALLS: [&str; 4] = [
    r#""(name|tool|function|tool_calls|toolcalls|arguments)"\s*:"#,
    r"(?i)<\s*(tool_call|function_call|invoke|function|tool)\b",
    r"(?i)\b(create|update|delete)_[a-z]+\s*\(",
    r"(?i)(^|\n)\s*(action|tool|calling|observation)\s*:",
];

static CLAIM_SET: LazyLock<RegexSet> = LazyLock::new(|| set(&CLAIMS));
static PROMISE_SET: LazyLock<RegexSet> = LazyLock::new(|| set(&PROMISES));
static CALL_SET: LazyLock<RegexSet> = LazyLock::new(|| set(&CALLS));

fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).expect("the lists are constants that the tests compile")
}

/// What a text may be, in any listed language.
pub fn looks_like(text: &str) -> Option<Looks> {
    if CALL_SET.is_match(text) {
        Some(Looks::NarratedCall)
    } else if CLAIM_SET.is_match(text) {
        Some(Looks::Claim)
    } else {
        PROMISE_SET.is_match(text).then_some(Looks::Promise)
    }
}

/// Whether the lists cover the text's language, as far as that can be told (J9).
pub fn covered(text: &str) -> bool {
    whatlang::detect(text).is_some_and(|info| COVERED.contains(&info.lang()))
}

// Words with which people ask for actions, in several languages. They only propose a scope that a person confirms. They decide
// nothing.

/** The action that a verb asks for. */
export type RequestedAction = 'send' | 'pay' | 'delete' | 'make' | 'change' | 'invite' | 'run' | 'admin'

// English; German; French; Spanish; Italian; Portuguese; Dutch; Russian; Turkish; Polish. A word that ends with `-` is a stem.
const ACTION_WORDS: Readonly<Record<RequestedAction, string>> = {
  send:
    'send email mail message text tell inform notify remind ask reply respond answer forward post publish announce share dm contact ' +
    'relay deliver submit upload broadcast tweet write greet thank give pass ' +
    'sende senden schick- schreib- teile teilen benachrichtig- informier- antwort- veröffentlich- poste posten weiterleit- leite erinner- ' +
    'envoie envoyer envoyez écri- préviens prévenir réponds répondre répondez publie publiez partage partagez transfère transférer rappelle ' +
    'envía enviar envíe enviale envíale manda mandar escribe escribir avisa- responde- publica publicar comparte compartir reenvía recuerda- ' +
    'invia inviare manda mandare scrivi scrivere rispondi rispondere pubblica condividi inoltra avvisa ' +
    'envie enviar mande escreva escrever informe avise responda responder publique compartilhe encaminhe ' +
    'stuur sturen verzend- bericht- schrijf antwoord- deel plaats beantwoord- ' +
    'отправ- пошли напиш- сообщи- ответь- перешли опублик- подел- напомни- ' +
    'gönder- yolla- yaz yanıtla- paylaş- bildir- ilet ' +
    'wyślij wysłać napisz odpowiedz opublikuj udostępnij przekaż powiadom-',
  pay:
    'pay paid transfer wire remit refund reimburse repay buy purchase order donate settle deposit withdraw ' +
    'bezahl- überweis- zahle zahlen zahl erstatt- kauf- spende- bestell- ' +
    'paie payer payez paye vire virer virez rembourse remboursez rembourser achète acheter achetez ' +
    'paga pagar pague transfiere transferir reembolsa compra comprar dona ' +
    'paga pagare bonifica trasferisci rimborsa acquista compra ' +
    'pague transfira reembolse compre ' +
    'betaal overmaken terugbetaal koop ' +
    'заплат- оплат- переве- верни купи- ' +
    'öde ödeme havale satın ' +
    'zapłać przelej zwróć kup opłać',
  delete:
    'delete remove erase drop clear discard cancel unsubscribe uninstall kick ban purge wipe trash bin ' +
    'lösch- entfern- storn- kündig- abbestell- ' +
    'supprim- efface effacez annule annulez annuler retire retirez résilie ' +
    'elimina eliminar borra borrar cancela cancelar quita suprime ' +
    'cancella- rimuov- annulla- ' +
    'exclua excluir apague apagar cancele remova ' +
    'verwijder- annuleer wis ' +
    'удали- отмен- убери сотри ' +
    'sil iptal kaldır- ' +
    'usuń usunąć anuluj skasuj',
  make:
    'create add make write draft compose generate save store put append insert schedule book reserve register record log copy duplicate ' +
    'plan arrange organize organise open build note download block enter ' +
    'erstell- anleg- lege hinzu hinzufüg- füge speicher- buch- reservier- plane planen trag eintrag- vereinbar- verfass- kopier- ' +
    'crée créer créez ajout- enregistr- réserv- planifie planifiez rédig- copie copiez organise organisez ' +
    'crea crear añad- agrega- guarda guardar reserva reservar programa redacta copia anota ' +
    'aggiung- salva salvare prenot- pianifica organizza ' +
    'crie criar adicione adicionar salve salvar agende agendar marque ' +
    'maak voeg toevoeg- bewaar boek reserveer plan ' +
    'созда- добав- сохран- заброн- запланир- запиш- ' +
    'oluştur- ekle- kaydet- rezerv- planla- ayarla- ' +
    'utwórz stwórz dodaj zapisz zarezerwuj zaplanuj',
  change:
    'update change edit modify rename move replace set adjust reschedule postpone mark assign switch correct fix extend renew increase ' +
    'decrease archive close resolve merge append approve reject accept decline redirect release restore ' +
    'änder- aktualisier- verschieb- umbenenn- bearbeit- ersetz- setze anpass- korrigier- ' +
    'modifie modifiez modifier changez déplac- renomm- mets mettre remplace remplacez corrige repousse ' +
    'actualiza- cambia cambiar modifica modificar mueve mover renombra- reprograma- ' +
    'aggiorna cambia modifica sposta rinomina sostituisci ' +
    'atualize atualizar altere alterar mude mova renomeie ' +
    'wijzig- verander- verplaats- hernoem- werk bijwerk- ' +
    'измени- обнови- перенес- переимен- поменя- ' +
    'güncelle- değiştir- taşı düzenle- ' +
    'zmień zaktualizuj przenieś edytuj popraw',
  invite:
    'invite add join onboard subscribe enroll enrol ' +
    'lade einlad- hinzufüg- füge ' +
    'invite- ajout- ' +
    'añad- agrega- ' +
    'aggiung- ' +
    'convide adicione ' +
    'nodig uitnodig- voeg ' +
    'приглас- добав- ' +
    'davet ekle- ' +
    'zaproś dodaj',
  run:
    'run execute start launch restart stop kill compile test click deploy trigger rerun ' +
    'führe ausführ- starte- stopp- ' +
    'exécut- lance lancer lancez démarr- arrêt- ' +
    'ejecuta- arranca- ' +
    'esegui- avvia- ferma- ' +
    'inicie pare ' +
    'voer uitvoer- start- ' +
    'запусти- выполни- останов- ' +
    'çalıştır- başlat- durdur- ' +
    'uruchom zatrzymaj wykonaj',
  admin:
    'grant allow enable disable install configure revoke deploy promote authorize authorise provision unlock lock access permission ' +
    'permissions rights role zugriff zugang rechte accès droits acceso permisos accesso permessi acesso permissões ' +
    'gewähr- erlaub- aktivier- deaktivier- installiere konfiguriere ' +
    'accorde accorder autorise autoriser activez activer désactive désactiver installe installez ' +
    'habilita habilitar deshabilita instala configura ' +
    'autorizza abilita disabilita ' +
    'permit- ative desativ- ' +
    'разреш- включи- отключи- установи- ' +
    'etkinleştir- kur ' +
    'włącz wyłącz zainstaluj',
}

// Stems of languages without spaces between words, at any position.
const UNSPACED: Readonly<Record<RequestedAction, string>> = {
  send: '发送 发给 发一 发邮件 发消息 告诉 通知 回复 转发 发布 分享 提醒 寄 送って 送信 伝えて 知らせて 返信 転送 投稿 共有 보내 전송 알려 답장 공유 게시 أرسل ارسل أخبر اكتب أجب شارك انشر भेज बता लिख',
  pay: '支付 付款 转账 汇款 付给 付清 退款 购买 付房租 支払 振り込 送金 払って 返金 購入 지불 결제 송금 이체 환불 구매 ادفع حوّل حول سدد اشتر भुगतान ट्रांसफर',
  delete:
    '删除 移除 取消 清除 削除 消して 取り消 キャンセル 삭제 제거 취소 지워 احذف ألغ الغ أزل हटा रद्द मिटा',
  make: '创建 新建 添加 预订 预定 安排 保存 写入 作成 追加 予約 保存 登録 만들 추가 예약 저장 생성 أنشئ انشئ أضف اضف احجز احفظ बना जोड़ बुक सहेज',
  change:
    '更新 修改 更改 改成 移动 重命名 设置 変更 更新 移動 修正 변경 수정 업데이트 옮겨 حدث حدّث عدل عدّل غيّر انقل बदल अपडेट',
  invite: '邀请 添加 招待 追加 초대 추가 ادع أضف आमंत्रित जोड़',
  run: '运行 执行 启动 停止 実行 起動 停止 실행 시작 중지 شغل شغّل نفّذ चला',
  admin: '授权 启用 禁用 安装 配置 許可 有効 無効 インストール 허용 설치 설정 فعّل ثبّت अनुमति',
}

/** The things that tools and requests are about. A word that ends with `-` is a stem. */
const THINGS: Readonly<Record<string, string>> = {
  mail: 'mail mails mailbox email emails e-mail e-mails inbox courriel correo correos posta e-posta электрон- письмо poczt- 邮件 邮箱 メール 메일 이메일 بريد ईमेल',
  message:
    'channel channels kanal canal canale kanaal 频道 チャンネル 채널 message messages dm sms chat nachricht- mensaje- messaggi- mensage- bericht- сообщени- mesaj- wiadomo- 消息 信息 短信 メッセージ 메시지 رسالة संदेश',
  channel:
    'channel channels kanal kanäle canal canaux canale canais kanaal канал- kanał- 频道 チャンネル 채널 قناة चैनल',
  person:
    'user users member members participant participants attendee attendees colleague team benutzer nutzer mitglied- teilnehmer- utilisateur- membre- usuario- miembro- utent- membr- gebruiker- пользовател- участник- üye kullanıcı użytkowni- 用户 成员 ユーザー メンバー 사용자 멤버 مستخدم',
  event:
    'event events calendar meeting meetings appointment appointments lunch dinner kalender termin- treffen besprechung- rendez-vous réunion- calendrier evento eventi eventos calendario cita reunión riunion- appuntament- calendário reunião agenda afspraak vergader- встреч- календар- toplantı takvim etkinlik spotkani- kalendarz- 日历 会议 日程 约会 カレンダー 会議 予定 일정 회의 캘린더 اجتماع موعد बैठक',
  file: 'file files document documents folder note notes txt pdf docx csv xlsx datei- dokument- ordner fichier- document- dossier archivo- carpeta fichero documento- cartella arquivo- pasta bestand- map файл- документ- папк- dosya belge plik- 文件 文档 文件夹 ファイル 文書 フォルダ 파일 문서 폴더 ملف फ़ाइल',
  money:
    'money payment payments transaction transactions bill bills invoice invoices rent transfer funds bank iban subscription geld zahlung- rechnung- miete überweisung- konto argent paiement- facture- loyer virement- dinero pago- factura- alquiler transferencia- soldi pagament- fattur- affitto bonific- dinheiro pagament- fatura- aluguel geld betaling- rekening- huur деньги счет счёт- платеж- аренд- перевод- para fatura- kira ödeme pieniądz- płatnoś- faktur- czynsz 钱 账单 房租 发票 款 お金 請求書 家賃 送金 돈 청구서 월세 송금 مال فاتورة إيجار पैसे बिल किराया',
  hotel:
    'hotel hotels hôtel hôtels room zimmer chambre habitación camera quarto отел- гостиниц- otel pokój 酒店 ホテル 호텔 فندق होटल',
  restaurant:
    'restaurant restaurants table ristorante restaurante ресторан- restoran restauracj- 餐厅 レストラン 식당 레스토랑 مطعم',
  car: 'car cars rental auto mietwagen voiture coche macchina carro машин- araba samochód 车 车辆 レンタカー 렌터카 سيارة',
  flight: 'flight flights flug vol vuelo volo voo vlucht рейс- uçuş lot 航班 フライト 항공편 رحلة',
  web: 'web website webpage webpages page pages site url link links webseite internetseite página pagina site сайт- страниц- 网页 网站 ウェブ 웹 موقع',
  password:
    'password passwords passwort kennwort contraseña senha wachtwoord парол- parola şifre hasł- 密码 パスワード 비밀번호',
  profile:
    'profile info information address street city name adresse profil perfil profilo dirección indirizzo endereço адрес- adres 资料 地址 住所 주소',
  contact: 'contact contacts kontakt- contacto- contatt- contato- контакт- kişi 联系人 連絡先 연락처',
  task: 'task tasks todo to-do issue issues ticket tickets aufgabe- tâche- tarea- attività tarefa- taak задач- görev zadani- 任务 タスク 작업 할일',
  code: 'code repo repository branch commit pull request script command test tests build 代码 コード 코드',
}

export { ACTION_WORDS, THINGS, UNSPACED }

/** English words that are often nouns. They are actions only without an article or a preposition before them. */
export const AMBIGUOUS: ReadonlySet<string> = new Set(
  (
    'email mail message text post reply answer order transfer refund book reserve plan note copy record log schedule update change set ' +
    'mark switch test share contact purchase deposit store file run start stop build click open draft move fix lock dm tweet invite ask ' +
    'pass block release access role paid'
  ).split(' '),
)

/** Subjects. A verb after a subject reports an action and does not request it: "what did we pay". */
export const SUBJECTS: ReadonlySet<string> = new Set('i we they he she it who someone somebody'.split(' '))

/** Words that precede a noun and never a requested action. */
export const BEFORE_THINGS: ReadonlySet<string> = new Set(
  (
    'the a an my your his her its our their this that these those last latest next each every any some no all of in on for from by with ' +
    'about at into via new first previous recent unread other another what which whose per'
  ).split(' '),
)

/** Verbs that ask for an answer if the user is the recipient. */
export const ASKING_FOR_ANSWER: ReadonlySet<string> = new Set(
  'tell inform remind text answer write ask thank notify message'.split(' '),
)

/** Words for the user. */
export const THE_ASKER: ReadonlySet<string> = new Set('me us myself'.split(' '))

/** Verbs and nouns that leave the choice of actions to a text. */
export const DELEGATES: readonly (readonly [actions: string, things: string])[] = [
  [
    'do perform complete follow execute carry handle finish implement take work go process',
    'instruction instructions todo todos to-do to-dos tasks task actions steps everything whatever list directions out checklist points ' +
      'requests sheet runbook asks says wants needs assigns',
  ],
  [
    'mach mache erledige erledig befolge führe folge',
    'anweisung anweisungen aufgabe aufgaben liste schritte alles',
  ],
  [
    'fais faire suis suivez exécute effectue réalise',
    'instructions instruction tâches tâche liste étapes actions',
  ],
  ['haz sigue realiza completa ejecuta cumple', 'instrucciones instrucción tareas lista pasos acciones'],
  ['fai segui esegui completa svolgi', 'istruzioni compiti attività lista elenco passi azioni'],
  ['faça siga execute realize complete', 'instruções tarefas lista passos ações'],
  ['сделай выполни следуй', 'инструкции инструкциям задачи задания список шаги'],
]

/** The same for languages without spaces. */
export const DELEGATES_UNSPACED: readonly string[] = [
  '按照',
  '照着',
  '指示に従',
  '手順に従',
  '指示通り',
  '지시에 따라',
  '지시대로',
  'اتبع التعليمات',
  'निर्देशों का पालन',
]

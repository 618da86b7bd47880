// The words with which a text asks for an action. English is complete. Other languages have the forms of orders.

function words(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(' ').split(' '))
}

/** English action verbs. Many are also nouns, so only their position makes them orders. */
export const VERBS: ReadonlySet<string> = words(
  'send transfer pay wire remit forward share post publish upload email mail invite add remove delete cancel update change set',
  'modify replace reserve book schedule create message reply submit buy purchase order move grant reset register notify text sms',
  'write append copy export run execute install deploy approve authorize authorise refund deposit credit donate subscribe enrol',
  'enroll sign rename overwrite disable enable revoke assign attach embed include put insert make give withdraw settle complete',
  'process issue dispatch deliver distribute broadcast redirect route reroute switch rotate initiate trigger perform arrange proceed',
  'use enter concatenate reveal disclose leak report file log record save store',
)

/** The verbs that are also names of data fields. */
export const NOUNS: ReadonlySet<string> = words(
  'email mail message text sms order book file report record log store post copy set route credit deposit change issue process',
  'invite reply update purchase refund schedule reset sign share register export use move',
)

/** Words between such a verb and its colon. */
export const HEADS: ReadonlySet<string> = words(
  'number no nr id ids name address addresses date time status type code ref reference account title subject body path url key',
  'total amount list',
)

/** Words that turn the next English verb into an order. */
export const LEADS: ReadonlySet<string> = words(
  'please kindly must should shall to then and also now just first next finally immediately always instead you simply need cannot',
  'would could can will or but so directly again',
)

/** Verbs of other languages in the forms of orders, at any position. */
export const ANYWHERE: ReadonlySet<string> = words(
  // German, Dutch
  'überweise überweisen überweist sende senden sendet schicke schicken schickt leite weiterleiten zahle zahlen bezahle bezahlen',
  'füge hinzufügen lösche löschen entferne entfernen ändere ändern aktualisiere aktualisieren erstelle erstellen buche buchen',
  'reserviere reservieren lade einladen veröffentliche veröffentlichen teile ersetze ersetzen trage eintragen verwende führe',
  'ausführen setze übermittle übermitteln stuur verstuur maak betaal verwijder voeg wijzig nodig plaats reserveer deel',
  // French
  'envoie envoyez envoyer transfère transférez transférer vire virez virer paie payez payer verse versez verser supprime supprimez',
  'supprimer ajoute ajoutez ajouter modifie modifiez modifier changez invitez publie publiez publier réserve réservez réserver crée',
  'créez créer partagez remplacez effectuez effectuer exécutez transmettez transmettre utilisez',
  // Spanish, Portuguese, Italian
  'envía envíe enviar envíen transfiera transfiere transferir pague pagar elimine eliminar borra borre borrar añade añada añadir',
  'agrega agregue agregar modifique modificar cambie cambiar invitar publique publicar reservar cree crear comparta compartir realice',
  'realizar actualice actualizar mande mandar reenvíe reenvía ejecute ejecuta envie transfira transfere apague remova exclua adicione',
  'altere mude convide crie compartilhe encaminhe faça atualize invia inviare inviate trasferisci trasferire trasferite pagare pagate',
  'elimina eliminare aggiungi aggiungere modificare cambiare invitare pubblica pubblicare prenota prenotare creare condividi',
  'condividere inoltra inoltrare aggiorna aggiornare esegui eseguire versare effettua effettuare',
  // Polish, Turkish
  'wyślij wysłać prześlij przesłać przelej przelać zapłać zapłacić usuń usunąć dodaj dodać zmień zmienić zaproś zaprosić opublikuj',
  'zarezerwuj utwórz udostępnij wykonaj gönder gönderin gönderiniz göndermelisin aktar aktarın ödeyin sil silin ekle ekleyin değiştir',
  'değiştirin davet paylaş paylaşın yayınla yayınlayın oluştur oluşturun yapın güncelle güncelleyin',
  // Russian, Ukrainian
  'отправь отправьте отправить перешли перешлите переслать переведи переведите перевести оплати оплатите оплатить заплати удали',
  'удалите удалить добавь добавьте добавить измени измените изменить поменяй поменяйте пригласи пригласите пригласить опубликуй',
  'опубликуйте забронируй забронируйте создай создайте создать поделись обнови обновите выполни выполните смени смените надішли',
  'надішліть перекажи перекажіть сплати сплатіть видали видаліть додай додайте зміни змініть',
  // Indonesian
  'kirim kirimkan bayar hapus tambahkan ubah undang bagikan',
)

/** Stems for scripts without spaces and for words that change at both ends. */
export const WITHIN: RegExp =
  /发送|發送|转账|轉賬|转发|轉發|汇款|匯款|支付|付款|删除|刪除|添加|修改|更改|邀请|邀請|发布|發布|预订|預訂|创建|上传|上傳|寄给|汇入|转到|转至|送信|送金|送って|転送|支払|振り込|削除|追加|変更|招待|投稿|予約|作成|共有|보내|송금|이체|전송|삭제|추가|변경|초대|예약|결제|게시|أرسل|ارسل|إرسال|حوّل|تحويل|ادفع|احذف|أضف|غيّر|انشر|احجز|भेज|भुगतान|ट्रांसफर|हटा|जोड़|बदल|आमंत्रित/u

// Cues in languages written in Latin letters: German, French, Spanish, Portuguese, Italian, Dutch, Polish and Turkish.

import type { CueEntry } from './cues-data.ts'

/** Verbs are in the imperative, and in the infinitive where orders use it. */
export const WESTERN: readonly CueEntry[] = [
  {
    cue: 'demand',
    weight: 2,
    words:
      // German
      'sende senden schicke schicken überweise überweisen zahle zahlen bezahle leite weiterleiten lösche löschen ändere ' +
      'ändern teile teilen lade laden herunterladen installiere öffne öffnen besuche buche buchen reserviere reservieren ' +
      'storniere stornieren erstelle erstellen veröffentliche veröffentlichen poste füge hinzufügen entferne entfernen schreibe ' +
      'antworte informiere übermittle übermitteln einladen ausführen aktualisiere setze gib bestelle kündige verschiebe ' +
      // French
      'envoie envoyez envoyer transfère transférez transférer vire virez virer paie payez payer supprime supprimez supprimer ' +
      'partage partagez partager ouvre ouvrez ouvrir télécharge téléchargez télécharger réserve réservez réserver annule annulez ' +
      'annuler crée créez créer publie publiez publier ajoute ajoutez ajouter invite invitez inviter modifie modifiez modifier ' +
      'change changez changer exécute exécutez exécuter visite visitez communique communiquez efface effacez écris écrivez ' +
      'transmets transmettez transmettre remplace remplacez installez ' +
      // Spanish
      'envía envíe envíen enviar transfiere transfiera transferir paga pague pagar borra borre borrar elimina elimine eliminar ' +
      'comparte comparta compartir abre abra abrir descarga descargue descargar reserva reserve reservar cancela cancele ' +
      'cancelar crea cree crear publica publique publicar añade añada añadir agrega agregue agregar invita invitar cambia ' +
      'cambie cambiar modifica modifique ejecuta ejecute ejecutar visita visite escribe escriba reenvía reenvíe reenviar ' +
      'actualiza actualice dile diga instala instale comunica comunique ' +
      // Portuguese
      'envie mande enviem transfira pague apague exclua remova elimine partilhe compartilhe abra baixe descarregue faça ' +
      'reserve cancele crie publique adicione convide altere mude execute visite escreva encaminhe atualize diga informe ' +
      'acrescente instale apagar partilhar compartilhar baixar criar adicionar convidar alterar encaminhar ' +
      // Italian
      'invia invii inviate inviare trasferisci trasferisca trasferire paghi pagate pagare cancella cancelli cancellare ' +
      'elimini eliminare condividi condivida condividere apri apra aprire scarica scarichi scaricare prenota prenoti prenotare ' +
      'annulla annulli annullare crei creare pubblica pubblichi pubblicare aggiungi aggiunga aggiungere invita inviti invitare ' +
      'modifichi modificare cambi cambiare esegui esegua eseguire visita scrivi scriva inoltra inoltri inoltrare comunica ' +
      'bonifica aggiorna aggiorni installa ' +
      // Dutch
      'stuur sturen verstuur versturen zend betaal betalen maak overmaken verwijder verwijderen wis deel delen download ' +
      'bezoek boek boeken reserveer reserveren annuleer annuleren plaats publiceer voeg toevoegen nodig uitnodigen wijzig ' +
      'wijzigen verander uitvoeren schrijf vertel geef doorsturen installeer bestel ' +
      // Polish
      'wyślij wyślijcie wysłać prześlij przesłać przelej przelać zapłać zapłacić opłać usuń usunąć skasuj udostępnij ' +
      'udostępnić otwórz otworzyć pobierz pobrać zarezerwuj zarezerwować anuluj anulować odwołaj utwórz utworzyć stwórz ' +
      'opublikuj opublikować dodaj dodać zaproś zaprosić zmień zmienić uruchom uruchomić wykonaj odwiedź napisz przekaż ' +
      'przekazać podaj zaktualizuj zainstaluj ' +
      // Turkish
      'gönder gönderin gönderiniz öde ödeyin ödeme sil silin silmelisin paylaş paylaşın aç açın indir indirin iptal ' +
      'oluştur oluşturun yayınla yayınlayın yayımla ekle ekleyin davet değiştir değiştirin çalıştır çalıştırın ziyaret ' +
      'yaz yazın ilet iletin aktar aktarın havale rezerve ayırt güncelle güncelleyin bildir bildirin yükle yükleyin',
  },
  {
    cue: 'reader',
    weight: 2,
    rows: [
      // Addressed to a machine or to any reader.
      'an|für 1 das|den|die|alle 1 modell|assistenten|assistent|agenten|agent|ki|bot|sprachmodell',
      'wer|jeder|alle 4 liest|bearbeitet|zusammenfasst|auswertet|verarbeitet|abruft|öffnet',
      'wenn|sobald du|sie 3 liest|lesen|zusammenfasst|bearbeitest|verarbeitest',
      'pour|à 1 le|les|tout|tous|votre 1 modèle|assistant|agent|agents|assistants|robot|ia|lecteurs',
      'quiconque|celui|ceux|toute 4 lit|lisent|traite|traitent|consulte|résume|ouvre',
      'quand|lorsque|dès|si vous|tu 2 lisez|lis|lirez|liras|traitez|résumez|consultez',
      'para|al 1 el|los|todo 1 modelo|asistente|agente|agentes|asistentes|lectores|ia',
      'quien|quienes|todo|cualquiera 3 lea|lee|leen|procese|procesa|consulte|consulta|resuma|abra|maneje',
      'cuando|si|al 2 leas|lea|leer|proceses|resumas|consultes|lees',
      'ao|para 1 o|os 1 modelo|assistente|agente|agentes|assistentes|leitores|ia',
      'quem|todo|qualquer 3 lê|ler|leia|consulta|consultar|processa|processar|resume|resumir|abrir|abre',
      'quando|se|ao 2 leres|ler|lê|vires|processar|resumir|encontrar',
      'per|al 1 il|i|gli|tutti 1 modello|assistente|agente|agenti|assistenti|ia|lettori',
      'chi|chiunque|coloro 3 legge|legga|leggono|elabora|elabori|riassume|riassuma|consulta|apre|gestisce',
      'quando|se|appena 2 leggi|legge|leggerai|elabori|riassumi',
      'aan|voor 1 de|het|alle 1 model|assistent|agent|agenten|assistenten|ai|lezers|bot',
      'wie|iedereen|degene 3 leest|verwerkt|samenvat|opent|raadpleegt|behandelt',
      'wanneer|als|zodra je|u 3 leest|verwerkt|samenvat',
      'do|dla 1 modelu|asystenta|agenta|agentów|asystentów|bota|czytelników',
      'kto|każdy|ktokolwiek 3 czyta|przetwarza|odczytuje|otwiera|streszcza|obsługuje',
      'gdy|kiedy|jeśli 2 czytasz|przeczytasz|przetwarzasz|przeczyta',
      'modele|modeline|asistana|asistan|yapay 1 not|mesaj|için|zeka|zekâ|talimat',
      'bunu|kaydı|metni|mesajı okuyan|işleyen|özetleyen|açan|inceleyen|okuyunca|okuduğunda',
    ],
  },
  {
    cue: 'reader',
    weight: 1,
    words:
      'assistent assistenten modell sprachmodell ki modèle assistante asistente modelo agente ia assistente modello ' +
      'asystent asystencie model asistan yapay lecteur lector leitor lettore lezer czytelnik',
  },
  {
    cue: 'tie',
    weight: 2,
    rows: [
      'bevor|ehe du|sie|wir|ihr 3 antwortest|antworten|fortfährst|fortfahren|weitermachst|weitermachen|weiterarbeitest|zusammenfasst',
      'vor der|einer|jeder 1 antwort|zusammenfassung|weiteren|ausgabe|fortsetzung',
      'danach|anschließend|dann|erst 3 weiter|weitermachen|fortfahren|fortsetzen|weiterarbeiten|wiederholen',
      'abfrage|aufruf|anfrage|werkzeug|tool 2 wiederholen|erneut|wiederhole',
      'nächste|neue|aktuelle|weitere|offene|fehlende aufgabe|schritt|auftrag|aktion',
      'avant de|toute|tout|votre|ta 2 répondre|continuer|poursuivre|réponse|chose|résumer|autre|reprendre',
      'ensuite|puis|après 3 continuer|continuez|continue|reprendre|reprenez|reprends|poursuivre|poursuivez|relancez|relancer',
      'prochaine|nouvelle tâche|étape|action|mission',
      'étape|tâche 2 manquante|suivante|obligatoire|restante',
      'relancez|relance|réessayez|réessaie|répétez|rappelez 3 outil|requête|appel|recherche|commande',
      'antes de|que 2 responder|continuar|seguir|contestar|nada|resumir|cualquier|respondas|proseguir|respuesta',
      'después|luego|entonces|después 3 continúa|continuar|continúe|sigue|seguir|siga|prosigue|reanuda|repite|repetir',
      'siguiente|nueva|próxima|actual tarea|paso|acción|instrucción',
      'repite|repita|vuelve|reintenta|reintente|llama|llame 3 herramienta|consulta|llamada|solicitud|intentar|intentarlo',
      'antes de|da 2 responder|continuar|prosseguir|mais|resposta|tudo|resumir|qualquer|seguir',
      'depois|seguida|então 3 continuar|continue|prosseguir|prossiga|retomar|retome|seguir|repita|continua',
      'próxima|nova|seguinte|actual|atual tarefa|etapa|passo|ação|acção',
      'tente|tentar|repita|chame|repetir 3 novamente|novo|ferramenta|consulta|chamada|pedido',
      'prima di|della 2 rispondere|continuare|procedere|tutto|proseguire|risposta|riassumere|qualsiasi|altro',
      'dopo|poi|quindi|fatto 3 continuare|continua|continui|procedere|procedi|proseguire|riprendere|riprendi|ripeti|prosegui',
      'prossimo|nuovo|prossima|nuova|attuale compito|passo|attività|azione|passaggio',
      'riprova|ripeti|ripetere|richiama|riprovare 3 strumento|richiesta|chiamata|operazione|ricerca',
      'voordat|voor|alvorens je|u|te|het 3 antwoord|antwoordt|antwoorden|verdergaat|doorgaat|verder|doorgaan|samenvat',
      'daarna|vervolgens|dan 3 verder|doorgaan|verdergaan|doorgaat|opnieuw|hervatten|voortzetten',
      'volgende|nieuwe|huidige taak|stap|opdracht|actie',
      'roep|probeer|herhaal|voer 4 opnieuw|nogmaals|aanroep|zoekopdracht',
      'przed|zanim 3 odpowiedzią|odpowiesz|udzieleniem|kontynuowaniem|kontynuacją|wszystkim|dalszą|przejdziesz|podsumowaniem',
      'potem|następnie|dopiero|wtedy|po 3 kontynuuj|kontynuować|dalej|wznów|powtórz|ponów|wróć',
      'następne|nowe|kolejne|bieżące|następny|kolejny zadanie|krok|polecenie',
      'wywołaj|ponów|powtórz|spróbuj 3 ponownie|narzędzie|zapytanie|żądanie',
      'cevap|yanıt|yanıtlamadan|cevaplamadan|devam 2 önce|vermeden|etmeden',
      'önce 1 şunu|bunu|şu',
      'sonra|ardından 3 devam|sürdür|tekrar|yeniden',
      'sonraki|yeni|sıradaki|şimdiki görev|adım|işlem|talimat',
      'aracı|sorguyu|isteği|çağrıyı 2 tekrar|yeniden|tekrarla|yinele',
    ],
  },
  {
    cue: 'tie',
    weight: 1,
    words:
      'zuvor vorab anschließend freischalten entsperren fortsetzen wiederholen préalablement débloquer déverrouiller ' +
      'réessayez desbloquear previamente reintentar prosseguir sbloccare preventivamente riprovare ontgrendelen vooraf ' +
      'odblokować ponownie kilidini açmak',
    rows: [
      'um|zum 4 freischalten|fortzufahren|fortfahren|entsperren|beheben|erhalten|freischaltung|schutz',
      'pour continuer|poursuivre|débloquer|corriger|obtenir|résoudre|protéger|accéder|rétablir|sécuriser',
      'para continuar|desbloquear|corregir|obtener|resolver|proteger|acceder|restablecer|corrigir|prosseguir|obter|aceder|evitar',
      'per continuare|sbloccare|correggere|ottenere|risolvere|proteggere|procedere|accedere|ripristinare',
      'om 4 te 1 gaan|ontgrendelen|herstellen|krijgen|beveiligen|verhelpen',
      'aby|żeby 1 kontynuować|odblokować|naprawić|uzyskać|zabezpieczyć|otrzymać|chronić',
      'düzeltmek|almak|korumak|açmak|kapanmaması|sürdürmek için',
      'eine|noch kleinigkeit|bitte',
      'folgendes|folgende',
      'ce qui suit',
      'lo siguiente',
      'o seguinte',
      'quanto segue',
      'het volgende',
      'co następuje',
      'następujące|następującą',
    ],
  },
  {
    cue: 'person',
    weight: 2,
    rows: [
      'ohne 3 rückfrage|bestätigung|nachfrage|nachzufragen|rücksprache|zustimmung|freigabe|warten|fragen',
      'keine 1 rückfrage|rückfragen|bestätigung|zustimmung|freigabe 2 nötig|notwendig|erforderlich',
      'erwähne|sage|sag|melde|informiere|frage|warte|frag 5 nicht|nichts|niemandem',
      'nicht 2 nachfragen|erwähnen|warten|informieren|bestätigen|verraten|weitersagen',
      'bereits|schon 3 genehmigt|freigegeben|abgestimmt|zugestimmt|bestätigt|abgesprochen|besprochen|einverstanden',
      'sans 3 confirmation|demander|attendre|prévenir|autorisation|informer|confirmer|accord|validation',
      'ne 4 pas|rien|jamais 3 demander|attendre|mentionner|informer|personne|utilisateur|prévenir|confirmation',
      'ne 1 dites|dis|parlez|parle|prévenez|mentionnez|mentionne|informez|demandez|attendez|signalez',
      'aucune|pas 1 confirmation|validation|besoin 2 nécessaire|requise|confirmer|confirmation',
      'déjà 2 approuvé|autorisé|validé|accord|donné|convenu|parlé|vu|confirmé',
      'sin 2 confirmación|pedir|preguntar|esperar|consultar|avisar|autorización|confirmar|permiso|decir',
      'no 2 preguntes|pregunte|esperes|espere|menciones|mencione|digas|avises|informes|confirmes|hables|consultes|comentes',
      'no 3 confirmación|necesario|hace|falta 1 confirmar|confirmación|preguntar|necesaria|confirmes',
      'ya 2 aprobado|autorizado|hablé|acordado|confirmado|acuerdo|está|dado',
      'sem 2 confirmação|pedir|perguntar|esperar|consultar|avisar|autorização|confirmar|aguardar',
      'não 2 pergunte|espere|mencione|diga|avise|informe|confirme|fale|conte|comente|aguarde|perguntes|digas|fales',
      'não 2 preciso|necessário|necessária|precisa 2 confirmar|confirmação|perguntar',
      'já 2 aprovado|autorizado|falei|acordado|confirmado|combinado|aprovou|autorizou',
      'senza 2 conferma|chiedere|aspettare|attendere|avvisare|autorizzazione|confermare|informare|dire|consultare',
      'non 2 chiedere|aspettare|attendere|menzionare|dire|avvisare|informare|parlarne|serve|occorre|dirlo|avvertire|confermare',
      'già 2 approvato|autorizzato|parlato|concordato|confermato|accordo|dato|approvata',
      'zonder 3 bevestiging|vragen|wachten|overleg|toestemming|melden|goedkeuring|bevestigen',
      'niet 3 vragen|wachten|vermelden|melden|bevestigen|zeggen|vertellen|informeren|noemen|navragen',
      'vertel|zeg|meld|vermeld|vraag|wacht 5 niet|niets|niemand|geen',
      'geen bevestiging|toestemming|goedkeuring 2 nodig|vereist',
      'al|reeds 2 goedgekeurd|akkoord|besproken|bevestigd|toegestemd|afgesproken',
      'bez 2 potwierdzenia|pytania|czekania|zgody|informowania|potwierdzania|powiadamiania',
      'nie 2 pytaj|czekaj|mów|wspominaj|informuj|potwierdzaj|powiadamiaj|trzeba|musisz|zgłaszaj|wymaga|proś',
      'już 2 zatwierdzone|uzgodnione|zgodził|zgodziła|zatwierdził|uzgodniłem|ustalone|potwierdzone|zatwierdzono',
      'onay|izin|onayı|haber 2 beklemeyin|beklemeden|bekleme|gerekmez|almadan|istemeden|gerekmiyor|vermeden|sormadan|verme|gerek',
      'kimseye|kullanıcıya 2 söyleme|söylemeyin|bahsetme|bildirme|sorma|haber|söylemeden|bahsetmeyin',
      'zaten|önceden 2 onaylandı|onayladı|konuştum|onaylı|izin|kabul|onay',
    ],
  },
  {
    cue: 'person',
    weight: 1,
    words: 'rückfrage unerreichbar einverstanden',
    rows: [
      'nicht 2 erreichbar',
      'weiß|wissen bescheid',
      'im auftrag|namen',
      'besprechung|sitzung',
      'au nom de',
      'est 1 accord|courant',
      'en réunion',
      'en nombre de',
      'de acuerdo',
      'está enterado|enterada|informado',
      'reunión',
      'em nome de',
      'numa|em reunião',
      'per conto di',
      'in riunione',
      'è accordo|informato',
      'namens',
      'is 1 akkoord|hoogte',
      'vergadering',
      'w imieniu',
      'wie o tym',
      'na spotkaniu',
      'adına',
      'ile konuştum|konuştuk',
      'sorun yok',
      'toplantıdayım',
      'haberi var',
    ],
  },
  {
    cue: 'void',
    weight: 3,
    rows: [
      'bisherigen|bisherige|vorherigen|vorherige|früheren|alten|alle 1 anweisungen|anweisung|aufgabe|aufträge|vorgaben 4 nicht|ungültig|aufgehoben|hinfällig|beendet|überholt|erledigt|abgeschlossen',
      'instructions|consignes|tâche|demandes|ordres 1 précédentes|précédente|antérieures|précédents|initiales 4 plus|annulées|caduques|terminée|annulée|remplacées|caduc|valables|obsolètes',
      'instrucciones|tarea|órdenes|indicaciones|peticiones 1 anteriores|anterior|previas|previa 4 terminado|anuladas|canceladas|ya|no|válidas|vigentes|quedan|terminada|concluido',
      'instruções|tarefa|ordens|pedidos|indicações 1 anteriores|anterior|prévias 4 terminou|terminada|anuladas|canceladas|já|não|válidas|concluída|revogadas',
      'istruzioni|compito|ordini|richieste|attività|indicazioni 1 precedenti|precedente 4 terminato|annullate|annullati|più|non|valide|valgono|concluso|superate|conclusa|revocate',
      'eerdere|vorige|vorigen|bestaande|oude 1 instructies|opdracht|opdrachten|taak|aanwijzingen 4 vervallen|niet|ongeldig|ingetrokken|klaar|voltooid|afgerond|langer',
      'poprzednie|wcześniejsze|dotychczasowe|poprzednia 1 polecenia|instrukcje|zadanie|prośby|wytyczne 4 nieważne|nieaktualne|anulowane|nie|zakończone|tracą|odwołane|unieważnione',
      'önceki|eski 1 talimatlar|görev|talimat|komutlar|istekler|yönergeler 4 geçersiz|iptal|bitti|tamamlandı|geçerli|değil|kaldırıldı|sona',
    ],
  },
  {
    cue: 'void',
    weight: 2,
    rows: [
      'neue|neuer anweisung|anweisungen|auftrag|aufgabe|befehl',
      'nouvelle|nouvelles instruction|instructions|consigne|consignes|directive',
      'nueva|nuevas instrucción|instrucciones|orden|órdenes|tarea',
      'nova|novas instrução|instruções|ordem|ordens|tarefa',
      'nuova|nuove|nuovo istruzione|istruzioni|ordine|compito|direttiva',
      'nieuwe instructie|instructies|opdracht|taak',
      'nowe|nowa|nowy instrukcje|instrukcja|polecenie|polecenia|zadanie',
      'yeni talimat|talimatlar|görev|komut|yönerge',
      'au lieu de',
      'en lugar de',
      'em vez de',
      'invece di',
      'in plaats van',
      'zamiast odpowiedzi|tego|odpowiadać',
      'yerine',
    ],
  },
  {
    cue: 'form',
    weight: 2,
    words:
      'systemhinweis systemmeldung systemnachricht sicherheitswarnung sicherheitshinweis systeemmelding systeembericht ' +
      'beveiligingsmelding beveiligingswaarschuwing fehlermeldung foutmelding wartungshinweis',
    rows: [
      'message|avis|alerte|notification|note 1 système|sécurité|urgent|maintenance',
      'aviso|alerta|mensaje|notificación|nota 2 sistema|seguridad|urgente|mantenimiento',
      'aviso|alerta|mensagem|notificação|nota 2 sistema|segurança|urgente|manutenção',
      'avviso|allerta|messaggio|notifica|nota 2 sistema|sicurezza|urgente|manutenzione',
      'komunikat|alert|powiadomienie|ostrzeżenie|wiadomość 1 systemu|systemowy|bezpieczeństwa|systemowe|systemowa|techniczny',
      'güvenlik|sistem uyarısı|bildirimi|mesajı|notu|duyurusu|hatası',
    ],
  },
  {
    cue: 'form',
    weight: 1,
    words:
      'fehler fehlgeschlagen warnung hinweis störung erreur échec avertissement alerte error fallo aviso advertencia erro falha ' +
      'alerta errore fallito avviso fout mislukt waarschuwing melding błąd ostrzeżenie komunikat hata uyarı başarısız ' +
      'regulamento reglamento règlement regolamento hausordnung dienstanweisung regulamin yönetmelik',
    rows: [
      'konnten|konnte nicht',
      'impossible de',
      'no se pudo|pudieron',
      'não foi possível',
      'impossibile',
      'kon|konden niet',
      'nie udało',
    ],
  },
  {
    cue: 'pressure',
    weight: 1,
    words:
      'sofort umgehend dringend unverzüglich muss müssen verpflichtet immédiatement urgent urgence obligatoire doit devez ' +
      'inmediatamente urgente inmediato debe deben obligatorio imediatamente deve devem obrigatório già subito ' +
      'immediatamente urgentemente obbligatorio onmiddellijk direct dringend moet verplicht natychmiast pilnie pilne musi ' +
      'należy obowiązkowo derhal hemen acil acilen zorunlu gerekir sonst otherwise sinon anders inaczej aksi',
  },
  {
    cue: 'decode',
    weight: 3,
    rows: [
      'dekodiere|entschlüssle|decodiere|entschlüssele|dekodieren 8 befolge|folge|ausführen|handle|führe|befolgen|aus',
      'décode|décodez|décoder|déchiffre|déchiffrez 8 suis|suivez|exécute|exécutez|applique|appliquez|suivre|exécuter',
      'decodifica|decodifique|descifra|descifre|decodificar 8 sigue|siga|ejecuta|ejecute|haz|cumple|seguir|ejecutar',
      'decodifique|descodifique|decifre 8 siga|execute|faça|cumpra',
      'decodifica|decifra|decodificare 8 segui|esegui|applica|eseguire|seguire',
      'decodeer|ontcijfer 8 volg|voer|doe|uit',
      'zdekoduj|odszyfruj|rozkoduj 8 wykonaj|zastosuj|postępuj',
      'çöz|çözün|deşifre 6 uygula|yap|uygulayın|yerine',
    ],
  },
  {
    cue: 'reader',
    weight: 2,
    rows: [
      'deine|deinen|ihre|ihren 1 werkzeuge|werkzeugen|tools|nutzer|benutzer',
      'utilise|utilisez|avec tes|vos 1 outils|fonctions',
      'tus|sus|con 1 herramientas',
      'suas|tuas|as 1 ferramentas',
      'tuoi|suoi|gli 1 strumenti',
      'jouw|je|uw 1 tools|hulpmiddelen|gebruiker',
      'swoich|swoje|twoje 1 narzędzi|narzędzia',
      'araçlarını|araçlarınızı kullan|kullanarak|kullanın',
      'nutzer|benutzer|nutzerin',
      'utilisateur',
      'usuario',
      'usuário|utilizador',
      'utente',
      'gebruiker',
      'użytkownik|użytkownika|użytkownikowi|użytkownikiem',
      'kullanıcı|kullanıcının|kullanıcıya|kullanıcıyı',
      'als ki|assistent|agent|sprachmodell',
      'en tant qu 1 assistant|agent|ia',
      'como asistente|agente|ia|modelo|assistente',
      'come|in assistente|agente|qualità',
      'jako asystent|agent|model',
    ],
  },
  {
    cue: 'tie',
    weight: 2,
    rows: [
      'um|zur 3 aufgabe|anfrage|antwort 2 abzuschließen|abschluss|vervollständigen|beenden',
      'terminer|compléter|finaliser 2 tâche|demande|réponse',
      'completar|terminar|finalizar 2 tarea|solicitud|respuesta|tarefa|pedido|resposta',
      'completare|terminare 2 compito|richiesta|risposta',
      'voltooien|afronden|afmaken',
      'dokończyć|ukończyć|zakończyć 2 zadanie|odpowiedź',
      'görevi|isteği tamamlamak|bitirmek',
      'erst|zuerst|zunächst 6 dann|danach|anschließend',
      'abord 9 ensuite|puis',
      'primero 9 después|luego',
      'primeiro 9 depois',
      'prima 9 poi|quindi',
      'eerst 9 daarna|dan',
      'najpierw 9 potem|następnie',
      'önce 9 sonra|ardından',
    ],
  },
]

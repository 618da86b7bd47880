// Verbs of other languages, by their first letters. They count for a description without an English verb.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence'
import { MAX_READ, stricter, type EffectWord } from './effect-words.ts'

// In this order: Chinese, Japanese, Korean, Russian, French, Spanish and Portuguese, Italian, German.
const STEMS: Readonly<Record<EffectClass, string>> = {
  read:
    '查 定位 获取 獲取 搜索 搜尋 列出 检索 檢索 计算 計算 分析 显示 顯示 读取 讀取 取得 検索 一覧 表示 조회 검색 보여 확인 계산 찾 ' +
    'получ поиск найт показ вывест прочит lister obten rechercher récupér afficher lire consulter listar obtener obter buscar consultar ' +
    'verificar mostrar calcular elenca cerca ottieni leggi zeig such hole abruf berechn prüf',
  write:
    '创建 建立 新建 新增 添加 更新 修改 编辑 編輯 保存 上传 上傳 设置 設定 写入 构建 索引 导入 取消 关闭 停止 合并 复制 移动 重命名 提交 调整 作成 追加 編集 생성 추가 수정 저장 등록 ' +
    'созда добав обнов измен сохран загруз créer ajouter modif enregistr crear criar agregar adicionar actualiz atualiz guardar salvar editar ' +
    'creare aggiung salva erstell anleg änder speicher aktualisier hinzufüg',
  send: '发送 發送 发布 發佈 通知 送信 전송 보내 발송 отправ опублик envoy publi enviar invia versend veröffentlich',
  delete:
    '删除 刪除 移除 清空 清除 销毁 重置 削除 삭제 제거 удал supprim eliminar borrar excluir remover apagar elimina lösch entfern',
  execute:
    '执行 執行 运行 運行 启动 重启 実行 실행 выполн запус exécut lanc ejecut execut esegui ausführ startet',
  pay: '支付 付款 下单 购买 转账 退款 支払 결제 주문 оплат куп payer achet pagar comprar acquist bezahl kauf überweis',
  admin:
    '部署 授权 登录 登錄 权限 密钥 安装 배포 로그인 разверн авториз войти déploy autoris autoriz desplegar installier anmeld',
}

/** The strictest verb of another language in the first sentence of a text. */
export function foreignAction(text: string): EffectWord | undefined {
  const words = firstSentence(text.slice(0, MAX_READ).toLowerCase())
  if (words.some((word) => ENGLISH.has(word))) return undefined
  const found = STEM_LIST.filter(({ word: stem }) => words.some((word) => begins(word, stem)))
  return found.reduce<EffectWord | undefined>(
    (worst, each) =>
      worst !== undefined && stricter(worst.effect, each.effect) === worst.effect ? worst : each,
    undefined,
  )
}

const ENGLISH = new Set('the of and for with is an to from by'.split(' '))
const STEM_LIST: readonly EffectWord[] = EFFECT_CLASSES.flatMap((effect) =>
  STEMS[effect].split(' ').map((word) => ({ word, effect })),
)

/** Scripts without spaces have no beginnings of words. */
function begins(word: string, stem: string): boolean {
  return stem > '\u2e80' ? word.includes(stem) : word.startsWith(stem)
}

function firstSentence(text: string): readonly string[] {
  const ends = ['. ', '。', '\n'].map((mark) => text.indexOf(mark)).filter((at) => at > 0)
  return text.slice(0, Math.min(text.length, ...ends)).split(' ')
}

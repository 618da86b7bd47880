// Finds the imports of a file, in every form that TypeScript has.

import ts from 'typescript-api'
import { sourceOf } from './source.ts'

/** One import. */
export interface Import {
  /** The name as written; undefined if it is computed. */
  readonly name: string | undefined
  readonly line: number
  readonly typeOnly: boolean
  /** The imported names; undefined if it may use any. */
  readonly taken: readonly Taken[] | undefined
  /** Whether it is loaded when the line runs, not when the file is loaded. */
  readonly lazy: boolean
}

/** A name that is imported from a file, as that file exports it. */
export interface Taken {
  readonly name: string
  readonly typeOnly: boolean
}

/** All imports of a file, including types and computed names. */
export function importsIn(path: string, text: string): readonly Import[] {
  const source = sourceOf(path, text)
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const found: Import[] = source.typeReferenceDirectives.map(({ fileName, pos }) => ({
    name: fileName,
    line: lineAt(pos),
    typeOnly: true,
    taken: undefined,
    lazy: false,
  }))
  const visit = (node: ts.Node): void => {
    const target = targetOf(node)
    if (target) {
      const name = target.node && ts.isStringLiteralLike(target.node) ? target.node.text : undefined
      const { typeOnly, taken } = target
      found.push({
        name,
        line: lineAt(node.getStart(source)),
        typeOnly,
        taken,
        lazy: ts.isCallExpression(node),
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Whether anything except types is imported. `import { type T }` stays in the output but imports nothing that runs. */
export function bringsValues({ typeOnly, taken }: Import): boolean {
  const onlyTypes = taken !== undefined && taken.length > 0 && taken.every((each) => each.typeOnly)
  return !typeOnly && !onlyTypes
}

interface Target {
  readonly node: ts.Node | undefined
  readonly typeOnly: boolean
  readonly taken: readonly Taken[] | undefined
}

/** The import of a node, if it is one. `import { type T }` is not type-only: the import itself stays in the output. */
function targetOf(node: ts.Node): Target | undefined {
  if (ts.isImportDeclaration(node)) {
    const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    return { node: node.moduleSpecifier, typeOnly, taken: takenBy(node.importClause, typeOnly) }
  }
  if (ts.isExportDeclaration(node)) return targetOfExport(node)
  if (ts.isExternalModuleReference(node)) {
    return { node: node.expression, typeOnly: false, taken: undefined }
  }
  if (ts.isImportTypeNode(node)) return targetOfType(node)
  return ts.isCallExpression(node) ? targetOfCall(node) : undefined
}

function targetOfExport({
  moduleSpecifier,
  isTypeOnly,
  exportClause,
}: ts.ExportDeclaration): Target | undefined {
  if (!moduleSpecifier) return undefined
  const named = exportClause && ts.isNamedExports(exportClause) ? exportClause.elements : undefined
  return {
    node: moduleSpecifier,
    typeOnly: isTypeOnly,
    taken: named?.map((each) => taking(each, isTypeOnly)),
  }
}

function targetOfType({ argument, qualifier }: ts.ImportTypeNode): Target {
  const first = qualifier && firstNameOf(qualifier)
  return {
    node: ts.isLiteralTypeNode(argument) ? argument.literal : undefined,
    typeOnly: true,
    taken: first === undefined ? undefined : [{ name: first, typeOnly: true }],
  }
}

function firstNameOf(name: ts.EntityName): string {
  return ts.isIdentifier(name) ? name.text : firstNameOf(name.left)
}

/** `import()`, `require()`, and any call with a `node:` name, because `getBuiltinModule` also loads built-ins. */
function targetOfCall(node: ts.CallExpression): Target | undefined {
  const { expression, arguments: args } = node
  const [first] = args
  const loads =
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && expression.text === 'require')
  const namesNode = first && ts.isStringLiteralLike(first) && /^node:\w/.test(first.text)
  return loads || namesNode ? { node: first, typeOnly: false, taken: takenLater(node) } : undefined
}

function takenBy(clause: ts.ImportClause | undefined, typeOnly: boolean): readonly Taken[] | undefined {
  if (!clause) return []
  const { name, namedBindings: bindings } = clause
  if (bindings && ts.isNamespaceImport(bindings)) return undefined
  return [
    ...(name ? [{ name: 'default', typeOnly }] : []),
    ...(bindings?.elements.map((each) => taking(each, typeOnly)) ?? []),
  ]
}

function taking(each: ts.ImportSpecifier | ts.ExportSpecifier, typeOnly: boolean): Taken {
  return { name: (each.propertyName ?? each.name).text, typeOnly: typeOnly || each.isTypeOnly }
}

/** The names of `(await import(…)).name`, of `const { name } = await import(…)`, and of the same in a `Promise.all`. */
function takenLater(call: ts.Expression): readonly Taken[] | undefined {
  const { parent } = call
  if (ts.isAwaitExpression(parent) || ts.isParenthesizedExpression(parent)) return takenLater(parent)
  if (ts.isPropertyAccessExpression(parent) && parent.name.text !== 'then') {
    return [{ name: parent.name.text, typeOnly: false }]
  }
  const pattern = ts.isVariableDeclaration(parent) ? parent.name : patternInList(call)
  return pattern && ts.isObjectBindingPattern(pattern) ? takenByPattern(pattern) : undefined
}

/** The element of `const [a, b] = await Promise.all([import(…), import(…)])` for this import. */
function patternInList(call: ts.Expression): ts.BindingName | undefined {
  const list = call.parent
  if (!ts.isArrayLiteralExpression(list) || !ts.isCallExpression(list.parent)) return undefined
  const waiting = list.parent.parent
  const declared = ts.isAwaitExpression(waiting) ? waiting.parent : undefined
  if (!declared || !ts.isVariableDeclaration(declared) || !ts.isArrayBindingPattern(declared.name)) {
    return undefined
  }
  const element = declared.name.elements[list.elements.indexOf(call)]
  return element && ts.isBindingElement(element) ? element.name : undefined
}

function takenByPattern({ elements }: ts.ObjectBindingPattern): readonly Taken[] | undefined {
  if (elements.some(({ dotDotDotToken }) => dotDotDotToken)) return undefined
  return elements.map(({ propertyName, name }) => ({
    name: (propertyName ?? name).getText(),
    typeOnly: false,
  }))
}

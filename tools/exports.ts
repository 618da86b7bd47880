// Finds the exported names and the declared types of a file.

import ts from 'typescript-api'
import { sourceOf } from './source.ts'

/** A name that a file exports. */
export interface Export {
  readonly name: string
  readonly line: number
  readonly typeOnly: boolean
}

/** A type that a file declares, exported or not. */
export interface DeclaredType {
  readonly name: string
  readonly line: number
}

/** All exported names of a file, including re-exports. `export *` is forbidden here. */
export function exportsIn(path: string, text: string): readonly Export[] {
  const source = sourceOf(path, text)
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return passedOn(statement, source)
    return isExported(statement) ? declaredBy(statement, source) : []
  })
}

/** All top-level interfaces, type aliases, classes and enums of a file. */
export function typesIn(path: string, text: string): readonly DeclaredType[] {
  const source = sourceOf(path, text)
  return source.statements.flatMap((statement) =>
    isType(statement) && statement.name
      ? [{ name: statement.name.text, line: lineOf(statement.name, source) }]
      : [],
  )
}

function passedOn({ exportClause, isTypeOnly }: ts.ExportDeclaration, source: ts.SourceFile): Export[] {
  if (!exportClause || !ts.isNamedExports(exportClause)) return []
  return exportClause.elements.map((each) => ({
    name: each.name.text,
    line: lineOf(each, source),
    typeOnly: isTypeOnly || each.isTypeOnly,
  }))
}

function declaredBy(statement: ts.Statement, source: ts.SourceFile): Export[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      boundNames(name).map((each) => ({ name: each.text, line: lineOf(each, source), typeOnly: false })),
    )
  }
  const named = ts.isFunctionDeclaration(statement) || isType(statement) ? statement.name : undefined
  const typeOnly = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
  return named ? [{ name: named.text, line: lineOf(named, source), typeOnly }] : []
}

function boundNames(name: ts.BindingName): readonly ts.Identifier[] {
  if (ts.isIdentifier(name)) return [name]
  return name.elements.flatMap((each) => (ts.isBindingElement(each) ? boundNames(each.name) : []))
}

type TypeDeclaration =
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.ClassDeclaration
  | ts.EnumDeclaration

function isType(node: ts.Node): node is TypeDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isEnumDeclaration(node)
  )
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
}

function lineOf(node: ts.Node, source: ts.SourceFile): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
}

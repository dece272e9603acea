/** Other names of fields in headers: in German, French and Spanish, and for order numbers. */
export const headerWords: Readonly<Record<string, readonly string[]>> = {
  productId: ['Produkt', 'Produktname', 'Artikel', 'Produit', 'Producto'],
  reference: [
    ...['Order', 'Order No', 'Order Number', 'Referenz', 'Bestellung', 'Bestellnummer', 'Auftrag', 'Auftragsnummer'],
    ...['Référence', 'Commande', 'Numéro de commande', 'N° de commande', 'Referencia', 'Pedido', 'Número de pedido'],
  ],
  key: [
    ...['Schlüssel', 'Lizenzschlüssel', 'Seriennummer', 'Clé', 'Clé de licence', 'Numéro de série'],
    ...['Clave', 'Clave de licencia', 'Número de serie'],
  ],
  maxActivations: [
    ...['Plätze', 'Arbeitsplätze', 'Aktivierungen', 'Anzahl Geräte', 'Postes', 'Nombre de postes', 'Sièges'],
    ...['Puestos', 'Número de puestos', 'Activaciones'],
  ],
  expirationDate: [
    ...[
      'Ablauf',
      'Ablaufdatum',
      'Läuft ab',
      'Läuft ab am',
      'Gültig bis',
      'Expiration',
      "Date d'expiration",
      'Expire le',
    ],
    ...["Valable jusqu'au", 'Caduca', 'Caducidad', 'Fecha de caducidad', 'Vencimiento', 'Fecha de vencimiento'],
    ...['Vence', 'Válido hasta'],
  ],
  name: ['Kunde', 'Kundenname', 'Firma', 'Client', 'Nom', 'Nom du client', 'Société', 'Cliente', 'Nombre', 'Empresa'],
  customerName: [
    'Kunde',
    'Kundenname',
    'Firma',
    'Client',
    'Nom du client',
    'Société',
    'Cliente',
    'Nombre del cliente',
    'Empresa',
  ],
  email: ['E-Mail-Adresse', 'Mailadresse', 'Adresse e-mail', 'Courriel', 'Correo', 'Correo electrónico'],
  customerEmail: [
    ...['E-Mail', 'E-Mail-Adresse', 'Mailadresse', 'Kunden-E-Mail', 'Adresse e-mail', 'Courriel', 'Correo'],
    ...['Correo electrónico'],
  ],
  createdAt: [
    ...['Erstellt', 'Erstellt am', 'Kaufdatum', 'Bestelldatum', 'Créé le', 'Date de création', "Date d'achat"],
    ...['Creado', 'Creado el', 'Fecha de creación', 'Fecha de compra'],
  ],
  devices: ['Geräte', 'Rechner', 'Appareils', 'Dispositivos', 'Equipos'],
  licenseType: ['Lizenztyp', 'Lizenzart', 'Type de licence', 'Tipo de licencia'],
  vendorDisabled: ['Gesperrt', 'Bloqué', 'Bloqueado'],
  note: ['Notiz', 'Bemerkung', 'Remarque', 'Nota'],
};

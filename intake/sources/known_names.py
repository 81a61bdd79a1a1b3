"""The names that forms commonly give to their questions, in Spanish and English.

All are compared without case, accents, blanks and punctuation (`leaves.folded`).
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "name": """
        name fullname yourname contactname customername nombre nombres nombrecompleto nombreyapellido nombreyapellidos
        nombresyapellidos sunombre tunombre nombredecontacto cliente
        """,
    "first_name": "firstname givenname fname primernombre",
    "last_name": "lastname familyname surname lname apellido apellidos",
    "email": """
        email emailaddress mail youremail contactemail emailcontacto correo correoelectronico tucorreo sucorreo
        """,
    "phone": """
        phone phonenumber telephone mobile mobilephone cellphone contactphone yourphone tel telefono telefonomovil
        telefonocelular celular cel movil fono whatsapp wsp numerodecelular numerodetelefono numerodewhatsapp nrocelular
        celularwhatsapp telefonowhatsapp tutelefono sutelefono tucelular
        """,
    "company": """
        company companyname organization organisation businessname empresa compania organizacion negocio razonsocial
        nombredelaempresa nombredeempresa
        """,
    "document": """
        ruc dni document documento taxid numeroderuc numerodedni numerodedocumento nrodedocumento nroruc rucdni dniruc
        rucodni dnioruc documentodeidentidad
        """,
    "text": """
        message yourmessage comment comments enquiry inquiry details description notes mensaje tumensaje sumensaje
        comentario comentarios consulta pregunta detalle detalles descripcion notas observaciones solicitud
        requerimiento
        """,
    "product": """
        product products productname service producto productos servicio servicios productodeinteres productointeres
        serviciodeinteres interes
        """,
    "amount": "amount monto importe",
    "currency": "currency moneda",
    "consent": """
        consent gdpr privacy privacypolicy consentimiento acepto aceptoterminos aceptolosterminos aceptacion
        politicadeprivacidad aceptolapoliticadeprivacidad terminosycondiciones
        """,
    "click_id": "gclid fbclid ctwaclid wbraid gbraid msclkid ttclid clickid",
}
FIELD_OF: Mapping[str, str] = {name: of for of, names in NAMES.items() for name in names.split()}

# A program's ids, times, tokens and addresses: no visitor wrote them, and they differ between two tries.
_TECHNICAL = """
    id uuid guid eventid submissionid responseid entryid timestamp created createdat updatedat submittedat datecreated
    ip ipaddress remoteip useragent nonce token csrftoken recaptcha grecaptcharesponse hcaptcharesponse
    cfturnstileresponse honeypot
    """
NOT_AN_ANSWER = frozenset(_TECHNICAL.split())
# Worth reading beside an answer, but alone they make no lead.
NOT_WRITTEN = frozenset({"type", "object", "event", "eventtype", "locale", "language", "formid", "formname", "source"})

# A label with one of these may hold a phone, if its answer reads as one.
PHONE_WORDS = frozenset({"phone", "telefono", "celular", "cel", "movil", "mobile", "whatsapp", "wsp", "fono"})
YES = frozenset({"true", "on", "1", "yes", "y", "si", "sí", "acepto", "checked", "accepted"})
NO = frozenset({"false", "off", "0", "no", "n"})
